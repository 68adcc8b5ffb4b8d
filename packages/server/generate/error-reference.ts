import { ERROR_CODES } from '../src/schema/error-codes.ts'

const INTRODUCTION = `# Errors

Every refusal of the REST API has the same body: \`error\` is a few words that belong to the status,
\`message\` a sentence for the person who reads the log of the client, \`code\` one of the codes below,
and \`request_id\` finds the request in the log of the service. Invalid input adds \`details\`, a list of
\`path\` and \`message\`. Programs branch on \`code\`: its meaning stays, while the wording of a message
may change. What never becomes a request of the service is answered with \`error\` alone: bytes that are
not HTTP or a request without \`Host\` (400), one that does not arrive in time (408), an expectation that
nobody knows (417), and an address and headers of more than 16 KiB together (431).

This page is generated from \`packages/server/src/schema/error-codes.ts\`.`

/** The text of `docs/errors.md`: every code with its meaning and what to do about it. */
export function renderErrorReference(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { meaning, remedy }]) => `| \`${code}\` | ${meaning} | ${remedy} |`,
  )
  return [INTRODUCTION, '', '| Code | Meaning | Remedy |', '| --- | --- | --- |', ...rows, ''].join(
    '\n',
  )
}
