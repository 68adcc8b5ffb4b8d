/*
 * Where a process will listen: looked at before anything is made, so that a wrong address or a taken port leaves
 * nothing behind. Whoever listens later says the same of a port that was taken meanwhile.
 */
import { listPorts } from '../platform/net/browser-ports.ts'
import { explainListening, LISTENING } from '../platform/net/explain-listening.ts'
import { findFreePort } from '../platform/net/find-free-port.ts'
import type { Config } from './config/load-config.ts'

const LOOPBACK = '127.0.0.1'

/**
 * Makes sure that the process can listen where its settings say. With port 0 a free one is chosen, before anything
 * names it: it is part of the default base URL.
 *
 * @throws AppError `unavailable` naming the settings
 */
export async function chooseAddresses(given: Config): Promise<Config> {
  const { adminPort, host, port, probePorts, roles } = given
  await explainListening(LISTENING.service, () => findFreePort(host, port))
  if (adminPort !== 0)
    await explainListening(LISTENING.metrics, () => findFreePort(LOOPBACK, adminPort))
  if (probePorts !== undefined && roles.includes('api')) {
    await explainListening(LISTENING.browsers, async () => {
      for (const each of listPorts(probePorts)) await findFreePort(host, each)
    })
  }
  return port === 0 ? withFreePort(given) : given
}

async function withFreePort(config: Config): Promise<Config> {
  const port = await findFreePort(config.host)
  const baseUrl = new URL(config.baseUrl)
  if (baseUrl.port === '0') baseUrl.port = String(port)
  return { ...config, port, baseUrl: baseUrl.href.replace(/\/+$/, '') }
}
