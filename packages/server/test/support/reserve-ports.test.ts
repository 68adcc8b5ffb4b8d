import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { reservePort, reservePorts } from './reserve-ports.ts'

const MODULE = join(import.meta.dirname, 'reserve-ports.ts')

it.runIf(process.platform === 'linux')(
  'gives a port to one alone, whether it is open or not, in whichever process',
  async () => {
    const here = await Promise.all(Array.from({ length: 500 }, () => reservePort()))
    const { first, last } = await reservePorts(20)
    const others = `import { reservePort } from ${JSON.stringify(MODULE)}
      const ports = await Promise.all(Array.from({ length: 500 }, () => reservePort()))
      console.log(JSON.stringify(ports))`
    const args = ['--conditions=source', '--disable-warning=ExperimentalWarning']
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...args,
      '--input-type=module-typescript',
      '--eval',
      others,
    ])
    const elsewhere = JSON.parse(stdout) as number[]
    expect(new Set([...here, ...elsewhere]).size).toBe(1_000)
    const isInRange = (port: number) => port >= first && port <= last
    expect([...here, ...elsewhere].filter(isInRange)).toEqual([])
  },
)
