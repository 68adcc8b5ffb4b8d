/*
 * The live proof of devices, as a part of a process: its ports, what this process knows of the leases, and the requests
 * of the page. Says at the start what is lost where no ports are open.
 */
import { toLogError, type Foundation, type ServicePart } from '../../changes/foundation.ts'
import type { PortRange } from '../../platform/net/browser-ports.ts'
import { listPorts } from '../../platform/net/browser-ports.ts'
import { explainListening, LISTENING } from '../../platform/net/explain-listening.ts'
import type { TlsMaterial } from '../../platform/tls/tls-material.ts'
import type { AskDevices } from '../../posture/device-questions/ask-devices.ts'
import { periodicJob } from '../../schema/jobs.ts'
import { LeaseBook } from './lease-book.ts'
import { createProbeHandler } from './probe-handler.ts'
import { createProbeListeners } from './probe-listeners.ts'
import { listLiveLeases, PROBE_CHANNEL } from './probe-lease-store.ts'
import { mountProof } from './proof-endpoints.ts'
import { createServiceAddresses } from './service-addresses.ts'

export interface ProofSettings {
  readonly baseUrl: string
  readonly host: string
  /** Undefined: no ports are opened. */
  readonly probePorts: PortRange | undefined
}

/** What the proof needs of others. */
export interface ProofNeeds {
  readonly ask: AskDevices
  readonly hurry: (deviceIds: readonly string[], untilMs: number) => void
  /** The certificate of the service; undefined for plain HTTP. */
  readonly tls: TlsMaterial | undefined
}

/** The part, which can be given another certificate while it runs. */
export interface ProofPart extends ServicePart {
  readonly setTls: (material: TlsMaterial) => void
}

const LOST_WITHOUT_PORTS =
  'no device is proven live at sign-in, because HELIOGRAPH_PROBE_PORTS is off: people sign in by the fallbacks of the sign-in policy only'

/** Makes the part; nothing listens before it starts. */
export function createProofPart(
  foundation: Pick<Foundation, 'clock' | 'db' | 'log' | 'runChange'>,
  { baseUrl, host, probePorts }: ProofSettings,
  { ask, hurry, tls }: ProofNeeds,
): ProofPart {
  const { clock, db, log } = foundation
  const logError = toLogError(log)
  const ports = probePorts === undefined ? [] : listPorts(probePorts)
  const stopping = new AbortController()
  const handler = createProbeHandler({ ...foundation, baseUrl, logError }, () => book)
  const listeners = createProbeListeners({ host, ports, tls }, handler)
  const book = new LeaseBook(
    clock,
    () => listLiveLeases(db, clock.now()),
    ({ begun, ended }) => {
      for (const { port } of begun) listeners.noteEarlier(port)
      for (const { proofId } of ended) handler.end(proofId)
    },
  )
  const refresh = () => {
    book.refresh().catch((error: unknown) => logError(error, 'the leases of ports were not read'))
  }
  return {
    name: 'device proof',
    roles: ['api'],
    channels: { [PROBE_CHANNEL]: refresh },
    onReconnect: refresh,
    setTls: listeners.setTls,
    mount: (http) =>
      mountProof(http, {
        ...foundation,
        ...{ ask, baseUrl, hurry, ports },
        settleNotesOf: handler.settleNotesOf,
        servicePort: portOf(baseUrl),
        listServiceAddresses: createServiceAddresses(baseUrl),
        refreshLeases: () => book.refresh(),
        stopping: stopping.signal,
      }),
    start: async () => {
      if (ports.length === 0) log.warn({ setting: 'HELIOGRAPH_PROBE_PORTS' }, LOST_WITHOUT_PORTS)
      await explainListening(LISTENING.browsers, () => listeners.listen())
    },
    // Finds the end of a proof that was not told, while its browser waits at a port.
    jobs: [periodicJob('leased ports', async () => book.isEmpty || book.refresh())],
    endWaiting: () => {
      stopping.abort()
      handler.endAll()
    },
    stop: async () => {
      await listeners.close()
      await handler.settle()
      await book.settle()
    },
  }
}

function portOf(baseUrl: string): number {
  const { port, protocol } = new URL(baseUrl)
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}
