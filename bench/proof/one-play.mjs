/** A thread that plays scenarios. A message is `{ kind, scenario, adapter }`, as indexes; the answer is the play's result. */
import { parentPort } from 'node:worker_threads';
import { adapters } from './adapter.mjs';
import { play } from './play.mjs';
import { kinds } from './scenarios.mjs';

const tools = await adapters();
const all = await kinds();

parentPort.on('message', ({ kind, scenario, adapter }) => {
  play(all[kind].scenarios[scenario], tools[adapter]).then(
    (result) => parentPort.postMessage({ result }),
    (error) => parentPort.postMessage({ failed: error.stack }),
  );
});
