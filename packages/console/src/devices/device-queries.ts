/* What the page of a device reads, each under the key that live messages of the device reach. */
import { queryOptions } from '@tanstack/react-query'
import {
  getDevicesById,
  getDevicesByIdCheckIns,
  getDevicesByIdStatusExplanation,
} from '../api/generated/sdk.gen.ts'

export const deviceQuery = (id: string) =>
  queryOptions({
    queryKey: ['devices', id],
    queryFn: async ({ signal }) => {
      const query = { expand: 'owner' }
      return (await getDevicesById({ path: { id }, query, signal, throwOnError: true })).data
    },
  })

/** Why the device has its state. */
export const explanationQuery = (id: string) =>
  queryOptions({
    queryKey: ['devices', id, 'status-explanation'],
    queryFn: async ({ signal }) =>
      (await getDevicesByIdStatusExplanation({ path: { id }, signal, throwOnError: true })).data,
  })

/** Contacts come every few seconds and are told to nobody, so they are asked for while they are looked at. */
const CONTACT_MS = 15_000

export const checkInsQuery = (id: string) =>
  queryOptions({
    queryKey: ['devices', id, 'check-ins'],
    queryFn: async ({ signal }) =>
      (await getDevicesByIdCheckIns({ path: { id }, signal, throwOnError: true })).data,
    refetchInterval: CONTACT_MS,
  })
