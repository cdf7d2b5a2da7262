import { escapeText } from '../surfacing.ts';

/**
 * What a client or a model could take for its own markup: tags of harnesses and tool calls, tokens of chat
 * templates. Other tags and comparisons in a note are its subject and stay as they are.
 */
const HARNESS_TAG =
  /<(?=[ \t]{0,8}\/?[ \t]{0,8}(?:[a-z]{1,16}:)?(?:system-reminder|system|function_calls|function_results|invoke|parameter|tool_use|tool_result|tool_call|thinking|untrusted-content|untrusted|handoff|hook|start_of_turn|end_of_turn|assistant|human|user)\b[^<\n]{0,200}>)/gi;
/** Some models write their tokens with a full-width bar and a low block. */
const TEMPLATE_TOKEN = /<(?=[ \t]{0,8}[|\uff5c][a-z_\u2581 -]{1,48}[|\uff5c][ \t]{0,8}>|<\/?SYS>>)/gi;
/** A Markdown image: whoever renders it requests its address, with whatever that holds. */
const IMAGE = /!(?=\[[^\]\n]{0,200}\]\()/g;

/**
 * Makes a text by others safe to show to an agent: nothing is deleted, but what could steer a terminal, hide, or pass
 * for a client's markup becomes visible as an escape. Prose is never judged.
 */
export function escapeForAgent(text: string): string {
  const plain = escapeText(text);
  // Most texts hold neither, and V8 compiles these patterns when they are first used.
  const tagless = plain.includes('<')
    ? plain.replace(HARNESS_TAG, '\\u{3c}').replace(TEMPLATE_TOKEN, '\\u{3c}')
    : plain;
  return tagless.includes('![') ? tagless.replace(IMAGE, '\\u{21}') : tagless;
}
