/*
 * How many retryable failures in a row a dispatcher knows of. Its own outcomes count at once; what the database says takes
 * their place where it is less, unless outcomes came after the database was asked: they are not in its answer.
 */
export class ConsecutiveFailures {
  #count = 0
  #hasOutcomes = false

  get count(): number {
    return this.#count
  }

  add(isFailure: boolean): void {
    this.#count = isFailure ? this.#count + 1 : 0
    this.#hasOutcomes = true
  }

  /** Before the database is asked. */
  beginLook(): void {
    this.#hasOutcomes = false
  }

  /** What the database has answered to the look that began last. */
  learn(count: number): void {
    if (!this.#hasOutcomes) this.#count = Math.min(this.#count, count)
  }
}
