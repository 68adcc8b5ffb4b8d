import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { PersonLink } from '../api/generated/types.gen.ts'
import { texts } from './texts.ts'

/** A person that a record names, by name where the record was expanded. */
export function PersonName({ link }: { readonly link: Pick<PersonLink, 'identifier' | 'record'> }) {
  if (link.identifier === '') {
    return (
      <Text span c="dimmed" size="sm">
        {texts.noOwner}
      </Text>
    )
  }
  return (
    <Link to="/people/$id" params={{ id: link.identifier }}>
      {link.record?.name ?? link.identifier}
    </Link>
  )
}
