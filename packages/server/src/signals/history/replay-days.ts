export interface RetentionSettings {
  readonly deliveryRetentionDays: number
  readonly deliveryPayloadRetentionDays: number
}

/** For how many days an event can be replayed: as long as what it carried is kept. */
export function findReplayDays({
  deliveryPayloadRetentionDays,
  deliveryRetentionDays,
}: RetentionSettings): number {
  return Math.min(deliveryPayloadRetentionDays, deliveryRetentionDays)
}
