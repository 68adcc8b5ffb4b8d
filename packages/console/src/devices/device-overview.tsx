/* What is so: open issues and what they do, what led here, and the facts of a device. */
import type { Device } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { DeviceCheckIns } from './device-check-ins.tsx'
import { DeviceNote } from './device-note.tsx'
import classes from './device-page.module.css'
import { DeviceTimeline } from './device-timeline.tsx'
import { DeviceWhy } from './device-why.tsx'
import { PersonName } from './person-name.tsx'
import { texts } from './texts.ts'

export function DeviceOverview({ device }: { readonly device: Device }) {
  return (
    <div className={classes.columns}>
      <div className={classes.column}>
        <DeviceWhy deviceId={device.id} />
        <Section title={texts.timeline} lead={texts.timelineLead}>
          <DeviceTimeline deviceId={device.id} />
        </Section>
      </div>
      <div className={classes.column}>
        <Section title={texts.facts}>
          <DeviceFacts device={device} />
        </Section>
        <DeviceCheckIns deviceId={device.id} />
        <DeviceNote device={device} />
      </div>
    </div>
  )
}

function DeviceFacts({ device }: { readonly device: Device }) {
  const { factsOf } = texts
  const mode = device.auth_configuration
  const groups = mode?.person_groups.map(({ name }) => name).join(', ') ?? ''
  return (
    <Facts
      isNarrow
      facts={[
        [texts.owner, <PersonName link={device.registered_owner_info} />],
        [factsOf.registered, <Time at={device.registered_at} absent={texts.unregistered} />],
        [
          factsOf.mode,
          mode === null
            ? texts.unregistered
            : `${texts.modes[mode.authentication_mode]}${groups === '' ? '' : ` (${groups})`}`,
        ],
        [factsOf.system, device.operating_system || '–'],
        [factsOf.model, device.hardware_model || '–'],
        [factsOf.serial, device.serial === null ? '–' : <Copyable value={device.serial} />],
        [
          factsOf.uuid,
          device.hardware_uuid === null ? '–' : <Copyable value={device.hardware_uuid} />,
        ],
        [factsOf.id, <Copyable value={device.id} />],
      ]}
    />
  )
}
