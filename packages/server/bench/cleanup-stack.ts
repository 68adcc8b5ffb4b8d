/** Undoes what was started, the last first. A failure to undo one thing does not keep the others. */
export class CleanupStack {
  readonly #undo: (() => Promise<unknown>)[] = []

  add(undo: () => Promise<unknown>): void {
    this.#undo.push(undo)
  }

  /** Undoes everything; throws the first failure once all is tried. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      await undo().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }
}
