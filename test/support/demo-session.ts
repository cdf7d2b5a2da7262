import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

const CLIENT = join(import.meta.dirname, '..', '..', 'scripts', 'demo', 'client.mjs');

/** What the stand-in client answers: the guard's refusal, or what the tool did. */
export interface ToolAnswer {
  readonly denied?: string;
  readonly output?: string;
  readonly status?: number | null;
  readonly error?: string;
}

/** A session of the demo's stand-in client: a process of its own that fires the registered hooks. */
export class DemoSession {
  readonly #process: ChildProcess;

  constructor(id: string, cwd: string, env: Readonly<Record<string, string>>, client = 'claude') {
    this.#process = fork(CLIENT, [id, client], { cwd, env: { ...env }, execArgv: [] });
  }

  /** One request at a time; see scripts/demo/client.mjs for what it may be. */
  ask(request: Readonly<Record<string, string>>): Promise<ToolAnswer> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the stand-in client ended'));
      this.#process.once('exit', gone);
      this.#process.once('message', (answer) => {
        this.#process.off('exit', gone);
        resolve(answer as ToolAnswer);
      });
      this.#process.send({ id: 0, ...request });
    });
  }

  end(): void {
    this.#process.kill();
  }
}
