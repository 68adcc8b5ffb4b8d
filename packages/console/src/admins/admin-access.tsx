/* What an admin may do: chosen in forms, and told on pages. */
import { Checkbox, Radio, Stack } from '@mantine/core'
import type { AdminUser, PostAdminUsersData } from '../api/generated/types.gen.ts'
import { texts } from './texts.ts'

type Access = AdminUser['access']

/** What an admin with limited access may not do. */
export type Restriction = NonNullable<
  NonNullable<PostAdminUsersData['body']>['restrictions']
>[number]

const LEVELS = Object.keys(texts.levels) as Access[]
const RESTRICTIONS = Object.keys(texts.restrictionNames) as Restriction[]

interface AccessFieldsProps {
  readonly access: Access
  readonly restrictions: readonly Restriction[]
  readonly onAccess: (access: Access) => void
  readonly onRestrictions: (restrictions: Restriction[]) => void
}

/** The level, with what each opens, and for limited access the restrictions. */
export function AccessFields({
  access,
  restrictions,
  onAccess,
  onRestrictions,
}: AccessFieldsProps) {
  return (
    <>
      <Radio.Group label={texts.access} value={access} onChange={onAccess}>
        <Stack gap="xs" mt={6}>
          {LEVELS.map((level) => (
            <Radio
              key={level}
              value={level}
              label={texts.levels[level]}
              description={texts.levelHelp[level]}
            />
          ))}
        </Stack>
      </Radio.Group>
      {access === 'limited' ? (
        <Checkbox.Group
          label={texts.restrictions}
          description={texts.restrictionsHelp}
          value={[...restrictions]}
          onChange={onRestrictions}
        >
          <Stack gap="xs" mt={6}>
            {RESTRICTIONS.map((name) => (
              <Checkbox
                key={name}
                value={name}
                label={texts.restrictionNames[name]}
                description={texts.restrictionHelp[name]}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      ) : null}
    </>
  )
}

/** The restrictions of an admin that this version knows, in the order of the form. */
export function restrictionsOf(admin: AdminUser): Restriction[] {
  return RESTRICTIONS.filter((name) => admin.restrictions.includes(name))
}
