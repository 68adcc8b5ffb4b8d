import { EXIT_CODES } from '../command-io.ts'
import { command } from '../command.ts'
import { flag, option, wholeOption } from '../option.ts'

const DEVICES_MAX = 1_000
const SECONDS_MAX = 604_800

/** `heliograph demo`: the service, devices and receivers on this machine, to watch and to try. */
export const definition = command({
  name: 'demo',
  description: 'run the service with simulated devices, this machine and two receivers',
  options: {
    seconds: wholeOption('--seconds <n>', 'end by itself after this time', SECONDS_MAX),
    devices: wholeOption('--devices <n>', 'how many simulated devices', DEVICES_MAX).default(30),
    port: wholeOption('--port <n>', 'port of the service (default: 8080, or a free one)', 65_535),
    dataDir: option(
      '--data-dir <folder>',
      'keep the data in this folder (default: a temporary one)',
    ),
    json: flag('--json', 'print JSON lines instead of the view'),
  },
  async run({ io, options: { seconds, devices, port, dataDir, json } }) {
    // The whole service and a fleet, which the help of this command does not need.
    const [{ DemoError }, { runDemo }] = await Promise.all([
      import('../demo/demo-api.ts'),
      import('../demo/run-demo.ts'),
    ])
    const demo = { deviceCount: devices, seconds, port, dataDir, isJson: json === true }
    try {
      const { isComplete } = await runDemo(demo, io)
      if (isComplete || seconds === undefined) return
      io.stderr.write('Not every receiver verified an event.\n')
    } catch (error) {
      if (!(error instanceof DemoError)) throw error
      io.stderr.write(`${error.message}\n`)
    }
    io.setExitCode(EXIT_CODES.failed)
  },
})
