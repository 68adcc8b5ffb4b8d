import type { Change } from '../../changes/change.ts'
import { getDeviceForUpdate, updateDevice } from './device-store.ts'

/**
 * Keeps what admins note about a device, Markdown; a blank text is no note. The same again leaves no audit entry.
 *
 * @throws AppError `not_found`
 */
export async function setDeviceNote(
  change: Change,
  deviceId: string,
  text: string | null,
): Promise<void> {
  const { tx, at } = change
  const device = await getDeviceForUpdate(tx, deviceId)
  const note = text === null || text.trim() === '' ? null : text
  if (note === device.note) return
  await updateDevice(tx, device.id, { note, updatedAt: at })
  change.recordAudit({
    action: 'device.note_changed',
    target: { type: 'device', id: device.id },
    description: `${note === null ? 'removed' : 'changed'} the note about ${device.name}`,
    before: { note: device.note },
    after: { note },
  })
}
