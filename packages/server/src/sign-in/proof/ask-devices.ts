/** What the proof needs of the questions to devices. */

/** A statement of osquery for a device. */
export interface AskedQuestion {
  readonly deviceId: string
  readonly sql: string
  readonly purpose: 'sign_in_proof'
}

/** What a device answered, or that it did not. */
export interface QuestionAnswer {
  readonly deviceId: string
  readonly status: 'answered' | 'failed' | 'expired'
  readonly rows: readonly Readonly<Record<string, string>>[]
  readonly latencyMs: number | null
}

/** Asks devices and waits for their answers. */
export type AskDevices = (
  questions: readonly AskedQuestion[],
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<readonly QuestionAnswer[]>
