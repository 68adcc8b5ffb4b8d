import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BenchRun } from './scenario.ts'

/** A program in a process of its own that is spoken to by messages. It ends when this process does. */
export interface ChildProgram<Command extends object, Answer extends { readonly type: string }> {
  readonly pid: number
  send(command: Command): void
  /** Resolves with the next answer of the type; rejects when the program ends or the run is aborted. */
  next<Type extends Answer['type']>(type: Type): Promise<Extract<Answer, { readonly type: Type }>>
  /** Ends the program before the run is cleaned up. */
  stop(): Promise<void>
}

/** The file of a program beside this one. */
export function programUrl(name: string): URL {
  return new URL(`./${name}.ts`, import.meta.url)
}

/** Starts a program of this folder; it is stopped when the run is cleaned up. */
export function startChildProgram<Command extends object, Answer extends { readonly type: string }>(
  run: BenchRun,
  name: string,
  args: readonly string[] = [],
): ChildProgram<Command, Answer> {
  const child = fork(fileURLToPath(programUrl(name)), args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  run.cleanup.add(() => stopChild(child))
  return {
    pid: child.pid ?? 0,
    send: (command) => void child.send(command),
    next: (type) => nextAnswer(child, name, type, run.signal),
    stop: () => stopChild(child),
  }
}

/** Lets a program end as soon as the process that started it is gone. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(0))
}

function nextAnswer<Answer extends { readonly type: string }, Type extends Answer['type']>(
  child: ChildProcess,
  name: string,
  type: Type,
  signal: AbortSignal,
): Promise<Extract<Answer, { readonly type: Type }>> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', onMessage)
      child.off('exit', onExit)
      signal.removeEventListener('abort', onAbort)
    }
    const onMessage = (message: unknown) => {
      const answer = message as Answer
      if (answer.type !== type) return
      settle()
      resolve(answer as Extract<Answer, { readonly type: Type }>)
    }
    const onExit = (code: number | null) => {
      settle()
      reject(new Error(`${name} ended with code ${code ?? 'none'}`))
    }
    const onAbort = () => {
      settle()
      reject(new Error('stopped'))
    }
    child.on('message', onMessage)
    child.once('exit', onExit)
    signal.addEventListener('abort', onAbort)
  })
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}
