import { toDeviceSql, toLiveQueryId, type LiveQueryId } from './live-query.ts'

/** A campaign that devices owe answers to. */
export interface OpenCampaign extends LiveQueryId {
  readonly statement: string
  /** The devices that have not answered. */
  readonly waitingDeviceIds: readonly string[]
}

/** Which device owes an answer to what; nothing waits and nothing is looked up. */
export interface OwedQueries {
  /** SQL by query id, a few at a time; undefined when the device owes nothing. */
  pendingQueries(deviceId: string): Readonly<Record<string, string>> | undefined
  /** Forgets that a device owes these answers. */
  forget(deviceId: string, answered: readonly LiveQueryId[]): void
  /** Replaces what is owed to a campaign; undefined for nothing. */
  replace(campaignId: string, campaign: OpenCampaign | undefined): void
  /** The campaigns that were put in, answered or not. */
  campaignIds(): string[]
}

/** Agents send the answers of one check-in in one message; so few fit into it. */
const QUERIES_PER_CHECK_IN = 4

interface HeldCampaign {
  readonly queryId: string
  readonly sql: string
  /** Whom it was held for; some may have answered since. */
  readonly deviceIds: readonly string[]
}

export function createOwedQueries(): OwedQueries {
  const campaigns = new Map<string, HeldCampaign>()
  /** By device, then by campaign. */
  const owed = new Map<string, Map<string, HeldCampaign>>()

  function remove(deviceId: string, campaignId: string): void {
    const queries = owed.get(deviceId)
    queries?.delete(campaignId)
    if (queries?.size === 0) owed.delete(deviceId)
  }

  return {
    pendingQueries(deviceId) {
      const queries = owed.get(deviceId)
      if (queries === undefined) return undefined
      const pending: Record<string, string> = {}
      let count = 0
      for (const { queryId, sql } of queries.values()) {
        pending[queryId] = sql
        count += 1
        if (count === QUERIES_PER_CHECK_IN) break
      }
      return pending
    },
    forget(deviceId, answered) {
      for (const id of answered) {
        const held = owed.get(deviceId)?.get(id.campaignId)
        if (held?.queryId === toLiveQueryId(id)) remove(deviceId, id.campaignId)
      }
    },
    replace(campaignId, campaign) {
      for (const deviceId of campaigns.get(campaignId)?.deviceIds ?? []) {
        remove(deviceId, campaignId)
      }
      campaigns.delete(campaignId)
      if (campaign === undefined) return
      const { waitingDeviceIds: deviceIds, statement } = campaign
      const held = { queryId: toLiveQueryId(campaign), sql: toDeviceSql(statement), deviceIds }
      campaigns.set(campaignId, held)
      for (const deviceId of deviceIds) {
        const queries = owed.get(deviceId)
        if (queries === undefined) owed.set(deviceId, new Map([[campaignId, held]]))
        else queries.set(campaignId, held)
      }
    },
    campaignIds: () => [...campaigns.keys()],
  }
}
