/** The bundler inserts these texts. */
declare const __VERSION__: string;
declare const __BOARD_SCRIPT__: string;
declare const __BOARD_STYLE__: string;

/* eslint-disable no-restricted-syntax -- a text module can only be declared like this */
declare module '*.bash' {
  const text: string;
  export default text;
}
declare module '*.zsh' {
  const text: string;
  export default text;
}
declare module '*.fish' {
  const text: string;
  export default text;
}
