/*
 * How many retryable failures in a row a dispatcher knows of. Its own outcomes count at once; what the database says
 * takes their place where it is less, but never of a look that began before all of them were recorded, or that others
 * came after.
 */
export class ConsecutiveFailures {
  #count = 0
  #unrecordedCount = 0
  #isLookComplete = false

  get count(): number {
    return this.#count
  }

  add(isFailure: boolean): void {
    this.#count = isFailure ? this.#count + 1 : 0
    this.#unrecordedCount += 1
    this.#isLookComplete = false
  }

  /** One of the outcomes that were added is in the database. */
  noteRecorded(): void {
    this.#unrecordedCount -= 1
  }

  /** Before the database is asked. */
  beginLook(): void {
    this.#isLookComplete = this.#unrecordedCount === 0
  }

  /** What the database has answered to the look that began last. */
  learn(count: number): void {
    if (this.#isLookComplete) this.#count = Math.min(this.#count, count)
  }
}
