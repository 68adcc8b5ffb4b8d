/** For how many days what is known of people and devices is kept; 0 is for ever. */
export interface KeptDays {
  readonly checkTransitions: number
  readonly resolvedIssues: number
  readonly signIns: number
}
