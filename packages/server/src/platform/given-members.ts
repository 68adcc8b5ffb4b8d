/** Values by name of which those that are undefined are left out. */
type GivenMembers<Values> = {
  readonly [Name in keyof Values]?: Exclude<Values[Name], undefined>
}

/** The members that a patch gives: those that are undefined stay as they are, and are left out. */
export function givenMembers<Values extends object>(values: Values): GivenMembers<Values> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as GivenMembers<Values>
}
