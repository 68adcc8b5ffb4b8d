/*
 * The process: arguments, environment, signals and exit code. Nothing else touches them.
 */
import { readEnvironment } from './app/config/read-environment.ts'
import { keepCompiledModules } from './cli/compile-cache.ts'

/** How long a command may take to end after the first signal. */
const STOP_TIMEOUT_MS = 20_000

const interrupting = new AbortController()
const closing = new AbortController()
let hasBeenTold = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (hasBeenTold) process.exit(130)
    hasBeenTold = true
    interrupting.abort()
    setTimeout(() => {
      process.stderr.write(`Not everything could be stopped within ${STOP_TIMEOUT_MS / 1000} s.\n`)
      process.exit(1)
    }, STOP_TIMEOUT_MS).unref()
  })
}

// Whoever reads may have read enough, as `head` does: what goes on printing ends as at a signal. A service goes on,
// without its word that it is ready or without its log.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (stream === process.stdout) closing.abort()
  })
}

// Loaded only now, so that what it loads is found in the cache. Not awaited at the top: the bundle of
// commands is loaded by `require`, which cannot wait.
keepCompiledModules(readEnvironment())
void import('./cli/program.ts').then(({ runProgram }) =>
  runProgram(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    environment: readEnvironment(),
    interruption: interrupting.signal,
    signal: AbortSignal.any([interrupting.signal, closing.signal]),
    setExitCode: (code) => {
      process.exitCode = code
    },
  }),
)
