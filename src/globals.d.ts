/** The bundler puts these texts in. */
declare const __VERSION__: string;
declare const __BOARD_SCRIPT__: string;
declare const __BOARD_STYLE__: string;

/* eslint-disable no-restricted-syntax -- a module that is a text has no other shape */
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
