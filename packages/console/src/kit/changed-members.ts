/** The members of a request that differ from what they were when its form began: others may have changed the rest. */
export function changedMembers<Input extends object>(now: Input, before: Input): Partial<Input> {
  const was = new Map<string, unknown>(Object.entries(before))
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was.get(name)),
  )
  return Object.fromEntries(changed) as Partial<Input>
}
