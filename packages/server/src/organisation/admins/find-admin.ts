/* What other folders may ask about admins. */
export { findAdminByEmail, findAdminById, findAdminForShare, type Admin } from './admin-store.ts'
