// What the commands of the checkout cost in CPU time of all their processes, beside a running service and
// an empty program of the same Node.js: `node scripts/measure-commands.mjs [calls]` prints a table. Each
// command runs once before it is measured. Needs bash. Runs on Node 20.
/* global fetch */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const CALLS = Number(process.argv[2] ?? 7)
const PORT = 18_973
const program = join(
  dirname(dirname(fileURLToPath(import.meta.url))),
  'packages/server/bin/heliograph.mjs',
)

/** Commands that need no long work; `<stream>` and `<webhook>` stand for records that are made first. */
const COMMANDS = [
  '--help',
  'admins list',
  'audit verify',
  'deliveries list --stream <stream>',
  'device-groups list',
  'enrollment-secrets list',
  'jobs list',
  'keys list',
  'migrate',
  'organisation show',
  'reporting-queries list',
  'reporting-tables',
  'signing-keys list',
  'ssf-clients list',
  'streams list',
  'streams show <stream>',
  'streams health <stream>',
  'webhooks list',
  'webhooks deliveries <webhook>',
  'webhooks events',
]

const folder = mkdtempSync(join(tmpdir(), 'heliograph-commands-'))
// As root the database runs as another user, who must be able to pass through.
chmodSync(folder, 0o711)
const env = {
  ...process.env,
  HELIOGRAPH_DATA_DIR: join(folder, 'data'),
  HELIOGRAPH_PORT: String(PORT),
  HELIOGRAPH_LOG_LEVEL: 'silent',
}
delete env.DATABASE_URL
const service = spawn(process.execPath, [program, 'serve'], { env, stdio: 'ignore' })
try {
  await waitUntilReady()
  const ids = await makeRecords()
  const rows = [['`node -e 0`', [process.execPath, '-e', '0']]]
  for (const command of COMMANDS) {
    const args = command.replace(/<(\w+)>/g, (_, name) => ids[name]).split(' ')
    rows.push([`\`${command}\``, [process.execPath, program, ...args]])
  }
  console.log('| Command | Least | Median |\n| --- | --- | --- |')
  for (const [name, words] of rows) console.log(`| ${name} | ${measure(words).join(' | ')} |`)
} finally {
  service.kill('SIGTERM')
  await new Promise((resolve) => service.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}

async function waitUntilReady() {
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${PORT}/readyz`).catch(() => undefined)
    if (ready?.ok) return
    if (service.exitCode !== null) throw new Error('the service did not start')
    await sleep(200)
  }
}

async function makeRecords() {
  const admin = ['--email', 'ada@example.com', '--first-name', 'Ada', '--last-name', 'Lovelace']
  run('admins', 'create', ...admin)
  const permission = 'Manage Shared Signals Framework Streams=Measures.'
  const { key } = run(
    ...['keys', 'create', '--name', 'measure', '--responsible', 'ada@example.com'],
    ...['--permission', permission],
  )
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'measured' })
  const url = `http://127.0.0.1:${PORT}/ssf_streams`
  const stream = await (await fetch(url, { method: 'POST', headers, body })).json()
  const to = ['--url', 'https://receiver.example.com/events', '--event', 'issues.new']
  const webhook = run('webhooks', 'create', '--name', 'measured', ...to)
  return { stream: stream.id, webhook: webhook.id }
}

function run(...args) {
  return JSON.parse(execFileSync(process.execPath, [program, ...args, '--json'], { env }))
}

/** Least and median of the CPU time, user and system, of all processes of a program. */
function measure(words) {
  const script = `TIMEFORMAT='%3U %3S'; { time "$@" > /dev/null 2>&1; } 2>&1`
  const seconds = []
  for (let call = 0; call <= CALLS; call += 1) {
    const printed = execFileSync('bash', ['-c', script, 'time', ...words], {
      env,
      encoding: 'utf8',
    })
    const [user, system] = printed.trim().split(' ').map(Number)
    if (call > 0) seconds.push(user + system)
  }
  seconds.sort((left, right) => left - right)
  return [seconds[0], seconds[Math.floor(seconds.length / 2)]].map((each) => `${each.toFixed(2)} s`)
}
