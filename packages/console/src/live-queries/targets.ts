/* Whom a live query asks. */
import { getDevices } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'

export type TargetKind = 'all' | 'platforms' | 'devices'

export type TargetPlatform = 'Mac' | 'Windows' | 'Linux'

export interface Targets {
  readonly kind: TargetKind
  readonly platforms: readonly TargetPlatform[]
  readonly deviceIds: readonly string[]
}

export const TARGET_PLATFORMS: readonly TargetPlatform[] = ['Mac', 'Windows', 'Linux']

/** The largest page of the API: more than this is told as more. */
export const COUNTED_MAX = 100

export function readTargets(campaign: LiveQueryCampaign | undefined): Targets {
  const platforms: TargetPlatform[] = []
  if (campaign?.target_macs === true) platforms.push('Mac')
  if (campaign?.target_windows_devices === true) platforms.push('Windows')
  if (campaign?.target_linux_devices === true) platforms.push('Linux')
  const deviceIds = campaign?.targeted_device_ids.map(String) ?? []
  const kind = platforms.length > 0 ? 'platforms' : deviceIds.length > 0 ? 'devices' : 'all'
  return { kind, platforms, deviceIds }
}

/** The targets in the words of the API; what is not chosen is switched off. */
export function toTargetInput({ kind, platforms, deviceIds }: Targets) {
  const has = (platform: TargetPlatform) => kind === 'platforms' && platforms.includes(platform)
  return {
    target_all_devices: kind === 'all',
    target_macs: has('Mac'),
    target_windows_devices: has('Windows'),
    target_linux_devices: has('Linux'),
    targeted_device_ids: kind === 'devices' ? deviceIds.map(Number) : [],
  }
}

/** About how many devices would be asked; undefined for more than a page of them. */
export async function countTargets(
  { kind, platforms, deviceIds }: Targets,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (kind === 'devices') return deviceIds.length
  const wanted = kind === 'all' ? TARGET_PLATFORMS : platforms
  if (wanted.length === 0) return 0
  const query = wanted.map((platform) => `device_type:${platform}`).join(' OR ')
  const page = { query: { query, per_page: COUNTED_MAX }, signal, throwOnError: true } as const
  const { data, pagination } = (await getDevices(page)).data
  return pagination.next_cursor === '' ? data.length : undefined
}
