/*
 * How many cores each part uses, as Linux accounts for them: on a machine that others use too, rates alone tell little.
 */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Installation } from './faults.ts'

/** Cores that each part has used: 1 is one core. */
export type UsedCores = Readonly<Record<string, number>>

/** Linux reports in hundredths of a second, whatever the kernel's own clock. */
const TICK_MS = 10

/** Begins to count; the function that it answers ends that. Nothing may be started or ended between. */
export function countUsedCores(installation: Installation): () => UsedCores {
  const beganMs = performance.now()
  const before = readParts(installation)
  return () => {
    const elapsedMs = performance.now() - beganMs
    const after = readParts(installation)
    const used: Record<string, number> = {}
    for (const [name, cpuMs] of Object.entries(after)) {
      used[name] = toHundredths(Math.max(0, cpuMs - (before[name] ?? 0)) / elapsedMs)
    }
    const { machine = 0, ...parts } = used
    const own = Object.values(parts).reduce((sum, cores) => sum + cores, 0)
    const others = toHundredths(Math.max(0, machine - own))
    return { ...parts, others, idle: toHundredths(Math.max(0, availableParallelism() - machine)) }
  }
}

/** CPU time so far, in milliseconds. */
function readParts({
  etcd,
  patroni,
  balancer,
  services,
}: Installation): Readonly<Record<string, number>> {
  const nodes = patroni.nodes.flatMap(({ program }) => program.pids())
  const supervisors = patroni.nodes.map(({ program }) => program.pid())
  return {
    services: sumOf(services.processes.map(({ pid = 0 }) => pid)),
    postgresql: sumOf(nodes.filter((pid) => !supervisors.includes(pid))),
    patroni: sumOf(supervisors),
    etcd: sumOf(etcd.programs.map((program) => program.pid())),
    haproxy: sumOf([balancer.program.pid()]),
    test: sumOf([process.pid]),
    machine: readMachineMs(),
  }
}

function sumOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readProcessMs(pid), 0)
}

/** Of a process and of those of its children that have ended. */
function readProcessMs(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in brackets, may hold spaces: fields are counted from its end.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0)
  } catch {
    return 0
  }
}

/** Of the whole machine: what was idle or waited for the disk is not work. */
function readMachineMs(): number {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const fields = first.split(/\s+/).slice(1, 9).map(Number)
  const [, , , idle = 0, waited = 0] = fields
  return (fields.reduce((sum, ticks) => sum + ticks, 0) - idle - waited) * TICK_MS
}

function toHundredths(value: number): number {
  return Math.round(100 * value) / 100
}
