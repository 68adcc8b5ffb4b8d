/*
 * CPU time and memory as Linux accounts for them. It suffers less from what else runs on a machine than rates do,
 * and it tells how much else does run. Other systems answer undefined.
 */
import { readdir, readFile } from 'node:fs/promises'

/** Linux reports in hundredths of a second, whatever the kernel's own clock. */
const TICK_MS = 10

interface ProcessTimes {
  readonly parentId: number
  readonly ownMs: number
  /** Of children that have ended and were waited for. */
  readonly endedChildrenMs: number
}

/** CPU time that a process has used so far, all its threads together. */
export async function readProcessCpuMs(pid: number): Promise<number | undefined> {
  return (await readTimes(String(pid)))?.ownMs
}

/** Memory of a process that is in use at present, in KiB; 0 where the system does not tell. */
export async function readMemoryKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
}

/** CPU time that processes have used so far, with everything that they and others started for them. */
export async function readTreesCpuMs(pids: readonly number[]): Promise<number> {
  return (await readCpuTimes()).ofTrees(pids)
}

/** What all processes had used at one time. */
export interface CpuTimes {
  /** As `readTreesCpuMs`; what belongs to two of the processes counts once. */
  ofTrees(pids: readonly number[]): number
}

/** Reads it once, so that several sums of it fit each other: processes end at any time. */
export async function readCpuTimes(): Promise<CpuTimes> {
  const times = await readAllTimes()
  return { ofTrees: (pids) => sumOfTrees(times, pids) }
}

/** The process that started another one. */
export async function findParentPid(pid: number): Promise<number | undefined> {
  return (await readTimes(String(pid)))?.parentId
}

/** CPU time of the whole machine and of this process with everything it started. */
export interface MachineCpu {
  readonly allMs: number
  readonly ownMs: number
}

export async function readMachineCpu(): Promise<MachineCpu | undefined> {
  const stat = await readFile('/proc/stat', 'utf8').catch(() => undefined)
  const fields = stat?.split('\n')[0]?.split(/\s+/).slice(1).map(Number)
  if (fields === undefined) return undefined
  // user, nice, system, idle, iowait, irq, softirq, steal: what was idle or waited is not work.
  const allMs = fields
    .slice(0, 8)
    .filter((_, index) => index !== 3 && index !== 4)
    .reduce((sum, ticks) => sum + ticks * TICK_MS, 0)
  return { allMs, ownMs: await readOwnTreeMs() }
}

/** The share of the machine's cores that other programs used between two readings, 0 to 1. */
export function shareOfOthers(
  before: MachineCpu | undefined,
  after: MachineCpu | undefined,
  elapsedMs: number,
  cores: number,
): number | undefined {
  if (before === undefined || after === undefined) return undefined
  const othersMs = after.allMs - before.allMs - (after.ownMs - before.ownMs)
  return Math.max(0, othersMs / (elapsedMs * cores))
}

async function readOwnTreeMs(): Promise<number> {
  return sumOfTrees(await readAllTimes(), [process.pid])
}

async function readAllTimes(): Promise<Map<number, ProcessTimes>> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const times = new Map<number, ProcessTimes>()
  for (const id of ids) {
    const read = await readTimes(id)
    if (read !== undefined) times.set(Number(id), read)
  }
  return times
}

function sumOfTrees(times: ReadonlyMap<number, ProcessTimes>, roots: readonly number[]): number {
  let sumMs = 0
  for (const [id, { ownMs, endedChildrenMs }] of times) {
    if (isDescendant(id, times, roots)) sumMs += ownMs + endedChildrenMs
  }
  return sumMs
}

function isDescendant(
  id: number,
  times: ReadonlyMap<number, ProcessTimes>,
  roots: readonly number[],
): boolean {
  for (let at: number | undefined = id; at !== undefined && at > 1; at = times.get(at)?.parentId) {
    if (roots.includes(at)) return true
  }
  return false
}

async function readTimes(id: string): Promise<ProcessTimes | undefined> {
  const text = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => undefined)
  // The name, in brackets, may hold spaces: fields are counted from its end.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined) return undefined
  const [parentId = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [
    1, 11, 12, 13, 14,
  ].map((index) => Number(fields[index]))
  return {
    parentId,
    ownMs: (user + system) * TICK_MS,
    endedChildrenMs: (childUser + childSystem) * TICK_MS,
  }
}
