/** The package's version, put in by the bundler. */
declare const __VERSION__: string;
/** The board's script and style, put in by the bundler. */
declare const __BOARD_SCRIPT__: string;
declare const __BOARD_STYLE__: string;
