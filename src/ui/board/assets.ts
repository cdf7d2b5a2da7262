/** The page's script and style, made of client/ and style.css by scripts/build.mjs. */
export const ASSETS = { script: __BOARD_SCRIPT__, style: __BOARD_STYLE__ };
