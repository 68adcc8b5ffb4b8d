/* The columns of lists of devices. */
import { Link } from '@tanstack/react-router'
import type { Device } from '../api/generated/types.gen.ts'
import { Time } from '../kit/time.tsx'
import { DeviceState } from '../kit/tone.tsx'
import type { Column } from '../kit/use-columns.ts'
import { PersonName } from './person-name.tsx'
import { texts } from './texts.ts'

/** Owners are named where the list was asked with `expand=owner`. */
export const DEVICE_COLUMNS: readonly Column<Device>[] = [
  {
    id: 'name',
    header: texts.name,
    narrow: true,
    width: 'minmax(140px, 1.5fr)',
    cell: ({ id, name }) => (
      <Link to="/devices/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: texts.state,
    narrow: true,
    width: '100px',
    cell: ({ auth_state: state }) => <DeviceState state={state} />,
  },
  {
    id: 'owner',
    header: texts.owner,
    width: 'minmax(110px, 1fr)',
    cell: ({ registered_owner_info: owner }) => <PersonName link={owner} />,
  },
  {
    id: 'platform',
    header: texts.platform,
    width: '72px',
    cell: ({ device_type: type }) => type,
  },
  {
    id: 'os',
    header: texts.system,
    width: 'minmax(110px, 0.9fr)',
    cell: ({ operating_system: system }) => system,
  },
  {
    id: 'block',
    header: texts.willBlock,
    width: '88px',
    cell: ({ will_block_at: at }) => <Time at={at} absent="" />,
  },
  {
    id: 'seen',
    header: texts.lastSeen,
    width: '92px',
    cell: ({ last_seen_at: at }) => <Time at={at} />,
  },
  {
    id: 'authenticated',
    header: texts.lastSignIn,
    width: '110px',
    hidden: true,
    cell: ({ last_authenticated_at: at }) => <Time at={at} />,
  },
  {
    id: 'serial',
    header: texts.serial,
    width: '112px',
    cell: ({ serial }) => serial,
  },
  {
    id: 'model',
    header: texts.model,
    hidden: true,
    cell: ({ hardware_model: model }) => model,
  },
]
