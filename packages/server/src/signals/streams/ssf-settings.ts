/** What the operator decides about the standard surface. Times in seconds; 0 switches off. */
export interface SsfSettings {
  /** A receiver may ask for a verification this often. */
  readonly minVerificationIntervalSeconds: number
  /** A stream whose receiver is silent for so long is paused. */
  readonly inactivityTimeoutSeconds: number
  /** Which subjects new streams begin with. */
  readonly defaultSubjects: 'ALL' | 'NONE'
  /** Subjects that a receiver may say something about, per stream. */
  readonly subjectsMax: number
}
