/*
 * The question to a device: which programs hold connections to the ports of a proof, and over which address its agent
 * reaches the service. One statement of osquery per platform; what the answer means is judged elsewhere.
 */
import { unwrapIpv4 } from '../../platform/net/address-ranges.ts'
import type { ProgramFacts, ProofPlatform } from './browser-programs.ts'

/** A connection that a device has to a port of the proof. */
export interface DeviceSocket {
  readonly pid: string
  /** The process that the others of the same program were started by; the process itself where there is none. */
  readonly rootPid: string
  readonly localAddress: string
  readonly localPort: number
  readonly remoteAddress: string
  readonly remotePort: number
  /** How long the process has run, in seconds; undefined where osquery does not say. */
  readonly ageSeconds: number | undefined
  readonly uid: string
  readonly userName: string
  readonly program: ProgramFacts
}

/** What a device answers. */
export interface SocketAnswer {
  readonly sockets: readonly DeviceSocket[]
  /** Where the agent of the device reaches the service. */
  readonly serviceAddresses: readonly string[]
}

const PROGRAM_OF: Readonly<
  Record<ProofPlatform, { readonly columns: string; readonly join: string }>
> = {
  darwin: {
    columns: 'g.signed, g.team_identifier, g.identifier, g.authority',
    join: 'left join signature g on g.path = p.path',
  },
  windows: {
    columns: 'a.result as signature_result, a.subject_name as signer',
    join: 'left join authenticode a on a.path = p.path',
  },
  linux: {
    columns: `f.uid as file_uid, f.mode as file_mode, n.user_namespace,
      (select user_namespace from process_namespaces where pid = 1) as first_user_namespace`,
    join: 'left join file f on f.path = p.path left join process_namespaces n on n.pid = p.pid',
  },
}

/** IPPROTO_TCP. */
const TCP = 6

/**
 * The question about these ports.
 *
 * @param servicePort the one under which agents reach the service
 */
export function toSocketQuestion(
  platform: ProofPlatform,
  ports: readonly number[],
  servicePort: number,
): string {
  const { columns, join } = PROGRAM_OF[platform]
  return `select 'browser' as kind, s.pid, s.local_address, s.local_port, s.remote_address, s.remote_port,
      p.path, p.uid, u.username, (select unix_time from time) - p.start_time as age,
      case when r.path = p.path then r.pid else p.pid end as root_pid, ${columns}
    from process_open_sockets s join processes p on p.pid = s.pid
    left join processes r on r.pid = p.parent left join users u on u.uid = p.uid ${join}
    where s.protocol = ${TCP} and s.state = 'ESTABLISHED' and s.remote_port in (${ports.join(', ')})
    union all
    select distinct 'agent', 0, '', 0, remote_address, 0${', null'.repeat(5 + countColumns(columns))}
    from process_open_sockets
    where pid = (select pid from osquery_info) and protocol = ${TCP} and state = 'ESTABLISHED'
      and remote_port = ${servicePort}`
}

/** Commas within brackets do not part columns; none of the lists has any. */
function countColumns(columns: string): number {
  return columns.split(',').length
}

/** Reads the rows of an answer; what is malformed is no connection. */
export function parseSocketAnswer(rows: readonly Readonly<Record<string, string>>[]): SocketAnswer {
  const sockets = rows.filter(({ kind }) => kind === 'browser').map(toSocket)
  const agents = rows.filter(({ kind }) => kind === 'agent')
  return {
    sockets: sockets.filter(({ pid }) => /^\d{1,10}$/.test(pid)),
    serviceAddresses: agents.map((row) => normaliseAddress(row['remote_address'] ?? '')),
  }
}

function toSocket(row: Readonly<Record<string, string>>): DeviceSocket {
  const text = (name: string) => row[name] ?? ''
  const age = Number(text('age'))
  return {
    pid: text('pid'),
    rootPid: text('root_pid'),
    localAddress: normaliseAddress(text('local_address')),
    localPort: Number(text('local_port')),
    remoteAddress: normaliseAddress(text('remote_address')),
    remotePort: Number(text('remote_port')),
    ageSeconds: text('age') === '' || !Number.isFinite(age) ? undefined : age,
    uid: text('uid'),
    userName: text('username'),
    program: {
      path: text('path'),
      signed: text('signed'),
      teamIdentifier: text('team_identifier'),
      identifier: text('identifier'),
      authority: text('authority'),
      signatureResult: text('signature_result'),
      signer: text('signer'),
      fileUid: text('file_uid'),
      fileMode: text('file_mode'),
      userNamespace: text('user_namespace'),
      firstUserNamespace: text('first_user_namespace'),
    },
  }
}

/** An address without what marks it as one of IPv4 in IPv6, and without a zone. */
export function normaliseAddress(address: string): string {
  const bare = address.toLowerCase().replace(/%.*$/, '')
  return unwrapIpv4(bare) ?? bare
}
