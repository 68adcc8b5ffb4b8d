import { Link } from '@tanstack/react-router'

/** Leads to the page of a device. */
export function DeviceLink({ id }: { readonly id: string }) {
  return <Link to={`/devices/${id}` as '/devices'}>{id}</Link>
}
