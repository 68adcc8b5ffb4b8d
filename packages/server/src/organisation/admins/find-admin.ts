/* What other folders may ask about admins. */
export {
  findAdminByEmail,
  findAdminById,
  findAdminForShare,
  findAdminForUpdate,
  hasFullAccess,
  listAllAdmins,
  type Admin,
} from './admin-store.ts'
