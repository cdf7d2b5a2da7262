import { type Dirty, type Marks, PERSON } from './marks.ts';

/** The owners of the changed paths of one working tree, by this test's own rules, not the program's. */
export class Owners {
  readonly #marks: Marks;
  /** Owners of changes without a mark. A formatter makes such changes, or they are left or come back when HEAD moves. */
  readonly #rest = new Map<string, ReadonlySet<string>>();
  /** Paths that a session has written by name. Nobody else has a claim on such a path, or the write would have been refused. */
  readonly #named = new Map<string, string>();
  /** The last text of each path, and its owners, who own the path again when that text comes back. */
  readonly #last = new Map<
    string,
    { readonly text: string | undefined; readonly owners: readonly string[] }
  >();

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** Sessions with uncommitted work in the path. A touch of another session's path makes nobody an owner. */
  of({ path, marks }: Dirty): string[] {
    const named = this.#named.get(path);
    const writers = marks.map((mark) => this.#marks.owner(mark)).filter((one) => one !== PERSON);
    if (named !== undefined) return [...new Set([...writers, named])];
    return [...(writers.length > 0 ? new Set(writers) : (this.#rest.get(path) ?? []))];
  }

  /** Whether a path differs from HEAD and has no owner. Such a path gets an owner only when a session names it. */
  isNobodys(dirty: Dirty | undefined): boolean {
    return dirty !== undefined && this.of(dirty).length === 0;
  }

  /** Whether something in the path is the session's, even without a mark. */
  hasPart(session: string, dirty: Dirty): boolean {
    return this.of(dirty).includes(session) || this.#rest.get(dirty.path)?.has(session) === true;
  }

  /** Whether a session's change that was put aside is there again, unchanged. */
  isBack(dirty: Dirty | undefined): boolean {
    const then = dirty === undefined ? undefined : this.#last.get(dirty.path);
    return then !== undefined && then.owners.length > 0 && then.text === dirty?.text;
  }

  /** A writer has changed the tree; `named`: by a file tool, or by a command that names the files that it writes. */
  changed(
    writer: string,
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    named = false,
  ): void {
    for (const known of [this.#rest, this.#named])
      for (const path of known.keys()) if (!after.has(path)) known.delete(path);
    for (const [path, dirty] of after) {
      const was = before.get(path);
      if (writer === PERSON || (was !== undefined && was.text === dirty.text)) continue;
      if (!named && this.isNobodys(was)) continue;
      if (named) this.#named.set(path, writer);
      const owners = was === undefined && this.isBack(dirty) ? this.#last.get(path)?.owners : [writer];
      if (!this.#rest.has(path)) this.#rest.set(path, new Set(owners));
      this.#last.set(path, { text: dirty.text, owners: this.of(dirty) });
    }
  }

  /**
   * HEAD has moved. If it moved back, the changes of the dropped commits are uncommitted again, and belong to the sessions
   * that made these commits. A path that differs only because somebody else committed has no owner. If a session committed
   * its part of a path, the others' parts remain.
   */
  moved(
    before: ReadonlyMap<string, Dirty>,
    after: ReadonlyMap<string, Dirty>,
    undone: ReadonlyMap<string, ReadonlySet<string>>,
    gained: ReadonlyMap<string, ReadonlySet<string>>,
  ): void {
    for (const path of before.keys()) if (!after.has(path)) this.#last.delete(path);
    for (const [path, dirty] of after) {
      // `AD`: the path is in the index only, so nothing of it is left.
      const isOver = !before.has(path) || dirty.xy === 'AD';
      const known = !isOver ? [...(this.#rest.get(path) ?? []), this.#named.get(path) ?? []].flat() : [];
      const done = gained.get(path);
      if (done?.has(this.#named.get(path) ?? '') === true || isOver) this.#named.delete(path);
      const left = known.filter((one) => done?.has(one) !== true);
      this.#rest.set(path, new Set([...left, ...(undone.get(path) ?? [])]));
      // If the text comes back, whoever has committed a part of it is no longer its owner.
      const last = this.#last.get(path);
      if (last !== undefined && last.text === dirty.text)
        this.#last.set(path, { text: dirty.text, owners: this.of(dirty) });
    }
  }
}
