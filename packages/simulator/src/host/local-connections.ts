/*
 * The connections that programs on this machine have, with the programs themselves: what osquery's
 * `process_open_sockets` and `processes` say, read from /proc as osquery does. Linux only; elsewhere there are none.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

/** A program with a connection. */
export interface LocalConnection {
  readonly pid: number
  readonly parentPid: number
  readonly path: string
  readonly uid: number
  /** Seconds since the epoch. */
  readonly startedAt: number
  /** The names of its user namespace, and of that of the first process; empty where they cannot be read. */
  readonly userNamespace: string
  readonly firstUserNamespace: string
  /** Who owns the file of the program, and its permissions in octal digits. */
  readonly fileUid: number
  readonly fileMode: string
  readonly localAddress: string
  readonly localPort: number
  readonly remoteAddress: string
  readonly remotePort: number
}

const ESTABLISHED = '01'
const CLOCK_TICKS = 100

/** The connections of a process and of all that it started; those of every process without a number. */
export function listLocalConnections(pid?: number): LocalConnection[] {
  if (process.platform !== 'linux') return []
  const sockets = new Map([...readSockets('/proc/net/tcp'), ...readSockets('/proc/net/tcp6')])
  const parents = new Map(listPids().map((each) => [each, readStat(each)?.parentPid ?? 0]))
  const wanted = [...parents.keys()].filter((each) => pid === undefined || isOf(each, pid, parents))
  return wanted.flatMap((each) => connectionsOf(each, sockets))
}

interface SocketEnds {
  readonly localAddress: string
  readonly localPort: number
  readonly remoteAddress: string
  readonly remotePort: number
}

function isOf(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at = pid; at > 0; at = parents.get(at) ?? 0) if (at === root) return true
  return false
}

function connectionsOf(pid: number, sockets: ReadonlyMap<string, SocketEnds>): LocalConnection[] {
  const held = listSocketInodes(pid).flatMap((inode) => sockets.get(inode) ?? [])
  if (held.length === 0) return []
  const stat = readStat(pid)
  const path = readLink(`/proc/${pid}/exe`)
  if (stat === undefined || path === '') return []
  const file = attempt(() => statSync(path))
  const program = {
    pid,
    ...stat,
    path,
    uid: attempt(() => statSync(`/proc/${pid}`).uid) ?? 0,
    userNamespace: toNamespace(readLink(`/proc/${pid}/ns/user`)),
    firstUserNamespace: toNamespace(
      // Not everybody may look at the first process; osquery may.
      readLink('/proc/1/ns/user') || readLink('/proc/self/ns/user'),
    ),
    fileUid: file?.uid ?? -1,
    fileMode: file === undefined ? '' : (file.mode & 0o7777).toString(8).padStart(4, '0'),
  }
  return held.map((ends) => ({ ...program, ...ends }))
}

function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function listSocketInodes(pid: number): string[] {
  const names = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []
  return names.flatMap(
    (name) => /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${name}`))?.[1] ?? [],
  )
}

function* readSockets(file: string): Generator<[string, SocketEnds]> {
  const lines = (attempt(() => readFileSync(file, 'utf8')) ?? '').split('\n').slice(1)
  for (const line of lines) {
    const [, local = '', remote = '', state, , , , , , inode = ''] = line.trim().split(/\s+/)
    if (state !== ESTABLISHED) continue
    const [localAddress, localPort] = parseEnd(local)
    const [remoteAddress, remotePort] = parseEnd(remote)
    yield [inode, { localAddress, localPort, remoteAddress, remotePort }]
  }
}

/** `0100007F:1F90`: the address in words of the byte order of the machine, the port in hexadecimal. */
function parseEnd(text: string): [address: string, port: number] {
  const [address = '', port = '0'] = text.split(':')
  const words = address.match(/.{8}/g) ?? []
  const bytes = words.flatMap((word) => [...Buffer.from(word, 'hex').reverse()])
  if (bytes.length === 4) return [bytes.join('.'), Number.parseInt(port, 16)]
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  )
  const ipv6 = new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
  return [isMapped ? bytes.slice(12).join('.') : ipv6, Number.parseInt(port, 16)]
}

/** Fields 4 and 22 of proc_pid_stat(5), counted behind the name, which may hold blanks. */
function readStat(pid: number): { parentPid: number; startedAt: number } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (text === undefined) return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? 0)
  const startedAt = bootedAt + Math.floor(Number(fields[19] ?? 0) / CLOCK_TICKS)
  return { parentPid: Number(fields[1] ?? 0), startedAt }
}

function toNamespace(link: string): string {
  return /\[(\d+)\]/.exec(link)?.[1] ?? ''
}

function readLink(path: string): string {
  return attempt(() => readlinkSync(path)) ?? ''
}

/** Processes end while they are read, and those of others cannot be. */
function attempt<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
