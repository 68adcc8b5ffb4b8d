/* What devices send, of which each comes in turn. */
import { READ_PATH } from './bench-agents.ts'
import type { LoadRequest } from './load-program.ts'

const WRITE_PATH = '/osquery/distributed/write'
const PASSED = { KOLIDE_CHECK_STATUS: 'PASS', name: '/dev/sda1', encrypted: '1', type: 'luks2' }

type Rows = readonly object[]

/** Requests for work of devices that have none to do. */
export function toIdleReads(keys: readonly string[], count: number): LoadRequest[] {
  return inTurn(keys, count, (nodeKey) => ({
    path: READ_PATH,
    body: JSON.stringify({ node_key: nodeKey }),
  }))
}

/** Rounds of all checks that find everything as it was. */
export function toRounds(
  keys: readonly string[],
  queryIds: readonly string[],
  count: number,
): LoadRequest[] {
  return inTurn(keys, count, (nodeKey) => toAnswer(nodeKey, queryIds, () => [PASSED]))
}

/** Rounds in which one check finds other rows than in the round before. */
export function toChangedRounds(
  keys: readonly string[],
  queryIds: readonly string[],
  count: number,
): LoadRequest[] {
  const [changing] = queryIds
  return inTurn(keys, count, (nodeKey, turn) =>
    toAnswer(nodeKey, queryIds, (id) => [
      id === changing ? { ...PASSED, name: `/dev/sd${turn % 2}` } : PASSED,
    ]),
  )
}

/** Answers to one check that blocks: it fails and passes in turn. */
export function toStatusChanges(
  keys: readonly string[],
  queryId: string,
  count: number,
): LoadRequest[] {
  return inTurn(keys, count, (nodeKey, turn) =>
    toAnswer(nodeKey, [queryId], () => [
      turn % 2 === 0 ? { ...PASSED, KOLIDE_CHECK_STATUS: 'FAIL' } : PASSED,
    ]),
  )
}

/** `toRequest` gets the device, and how often it has had its turn before. */
function inTurn(
  keys: readonly string[],
  count: number,
  toRequest: (nodeKey: string, turn: number) => LoadRequest,
): LoadRequest[] {
  return Array.from({ length: count }, (_, index) =>
    toRequest(keys[index % keys.length] ?? '', Math.floor(index / keys.length)),
  )
}

function toAnswer(
  nodeKey: string,
  queryIds: readonly string[],
  toRows: (queryId: string) => Rows,
): LoadRequest {
  return {
    path: WRITE_PATH,
    body: JSON.stringify({
      node_key: nodeKey,
      queries: Object.fromEntries(queryIds.map((id) => [id, toRows(id)])),
      statuses: Object.fromEntries(queryIds.map((id) => [id, 0])),
    }),
  }
}
