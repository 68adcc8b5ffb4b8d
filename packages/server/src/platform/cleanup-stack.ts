/** Undoes what was started, the last first. A failure to undo one thing does not keep the others. */
export class CleanupStack {
  readonly #undo: (() => Promise<unknown>)[] = []

  add(undo: () => Promise<unknown>): void {
    this.#undo.push(undo)
  }

  /** Undoes everything; throws the failure, or an AggregateError of all, once everything is tried. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      await undo().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 1)
      throw new AggregateError(failures, 'Several things could not be undone')
    if (failures.length === 1) throw failures[0]
  }
}
