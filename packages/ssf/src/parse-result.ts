import type { z } from 'zod'
import { describeFault, withoutIdleFaults } from './describe-fault.ts'

/** One reason why a value was refused: where (`delivery.method`, empty for the whole value) and why. */
export interface ParseIssue {
  readonly path: string
  readonly message: string
}

/** The outcome of parsing untrusted input; `issues` has at least one entry. */
export type ParseResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly ParseIssue[] }

/** Parses untrusted input with a schema; never throws. Messages name members, never their values. */
export function parseWithSchema<T>(schema: z.ZodType<T>, input: unknown): ParseResult<T> {
  const result = schema.safeParse(input, { error: describeFault })
  if (result.success) return { ok: true, value: result.data }
  return {
    ok: false,
    issues: withoutIdleFaults(result.error.issues).map((issue) => ({
      path: issue.path.map(String).join('.'),
      message: issue.message,
    })),
  }
}

/** The issues of a member as those of what holds it. */
export function issuesWithin(member: string, issues: readonly ParseIssue[]): ParseIssue[] {
  return issues.map(({ path, message }) => ({
    path: path === '' ? member : `${member}.${path}`,
    message,
  }))
}

/** One line for logs and error answers: the first issue with its place. */
export function describeIssues(issues: readonly ParseIssue[]): string {
  const first = issues[0]
  if (first === undefined) return 'invalid value'
  return first.path === '' ? first.message : `${first.path}: ${first.message}`
}
