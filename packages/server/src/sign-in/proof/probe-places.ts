/*
 * Places for what may come from anywhere: so many in all, and of one address so many that none takes them all.
 */

/** All the people of an office behind one address, three each. */
const PER_ADDRESS_MAX = 128
const ALL_MAX = 4_096

export class ProbePlaces {
  readonly #byAddress = new Map<string, number>()
  #total = 0

  /** Takes a place; call the answer once to give it back. Undefined where there is none. */
  take(address: string): (() => void) | undefined {
    const ofAddress = this.#byAddress.get(address) ?? 0
    if (this.#total >= ALL_MAX || ofAddress >= PER_ADDRESS_MAX) return undefined
    this.#total += 1
    this.#byAddress.set(address, ofAddress + 1)
    return () => this.#giveBack(address)
  }

  #giveBack(address: string): void {
    this.#total -= 1
    const left = (this.#byAddress.get(address) ?? 1) - 1
    if (left > 0) this.#byAddress.set(address, left)
    else this.#byAddress.delete(address)
  }
}
