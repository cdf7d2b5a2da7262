/** The package's version, put in by the bundler. */
declare const __VERSION__: string;

/** A shell's file, whose text the bundler puts in. */
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
