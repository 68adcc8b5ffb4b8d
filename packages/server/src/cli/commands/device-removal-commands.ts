import { cancelDeviceDeletion } from '../../posture/devices/cancel-device-deletion.ts'
import { readmitHost } from '../../posture/devices/readmit-host.ts'
import { databaseCommand } from '../command.ts'

/** `heliograph devices cancel-deletion`. */
export const cancelDeletionCommand = databaseCommand({
  name: 'cancel-deletion <id>',
  description: 'keep a device that is to be deleted; its agent may enroll again',
  run: ({ args, change }) => change((tx) => cancelDeviceDeletion(tx, args.id)),
  json: ({ id }) => ({ id, deletion_due_at: null }),
  text: ({ name }) => `The device ${name} is kept.`,
})

/** `heliograph devices readmit`. */
export const readmitCommand = databaseCommand({
  name: 'readmit <host-identifier>',
  description: 'let the host of a deleted device enroll again with the secret that it has',
  run: ({ args, change }) => change((tx) => readmitHost(tx, args['host-identifier'])),
  json: ({ host_identifier }) => ({ host_identifier, readmitted: true }),
  text: ({ host_identifier }) => `The host ${host_identifier} may enroll again.`,
})
