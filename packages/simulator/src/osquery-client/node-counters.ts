/**
 * What nodes did, counted so that nothing can get lost unseen: every line that was logged is
 * acknowledged, purged, oversized or still buffered.
 */
export interface NodeCounters {
  requests: number
  /** Answers that osquery takes for a success, the node key of an enrollment among them. */
  successes: number
  /** Everything else that a request came to, `unreachable` included. */
  failures: number
  unreachable: number
  enrollments: number
  enrollmentFailures: number
  nodeInvalid: number
  configFetches: number
  configChanges: number
  /** Reads that were begun; the attempts of one count once. */
  distributedReads: number
  distributedReadsAcknowledged: number
  queriesReceived: number
  queriesRun: number
  queriesFailed: number
  queriesDenylisted: number
  resultsQueued: number
  resultsSent: number
  resultsAcknowledged: number
  batchesDiscarded: number
  linesLogged: number
  linesSent: number
  linesAcknowledged: number
  linesPurged: number
  linesOversized: number
  crashes: number
}

/** All counters at zero. */
export function createCounters(): NodeCounters {
  return {
    requests: 0,
    successes: 0,
    failures: 0,
    unreachable: 0,
    enrollments: 0,
    enrollmentFailures: 0,
    nodeInvalid: 0,
    configFetches: 0,
    configChanges: 0,
    distributedReads: 0,
    distributedReadsAcknowledged: 0,
    queriesReceived: 0,
    queriesRun: 0,
    queriesFailed: 0,
    queriesDenylisted: 0,
    resultsQueued: 0,
    resultsSent: 0,
    resultsAcknowledged: 0,
    batchesDiscarded: 0,
    linesLogged: 0,
    linesSent: 0,
    linesAcknowledged: 0,
    linesPurged: 0,
    linesOversized: 0,
    crashes: 0,
  }
}
