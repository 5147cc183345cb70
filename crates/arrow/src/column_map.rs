//! The column of a batch with a role.

use std::str::FromStr;

use arrow_schema::Schema;

use crate::{Error, Role};

/// Columns given for roles by the user, in place of those with the usual names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnMap(pub Vec<(Role, String)>);

/// Reads `role=column`.
impl FromStr for ColumnMap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            let roles: Vec<String> = Role::ALL.iter().map(Role::to_string).collect();
            format!("expected role=column, with a role of {}", roles.join(", "))
        };
        let (role, column) = text.split_once('=').ok_or_else(expected)?;
        let mut roles = Role::ALL.into_iter();
        let role = roles
            .find(|one| one.names()[0] == role)
            .ok_or_else(expected)?;
        Ok(Self(vec![(role, column.into())]))
    }
}

impl ColumnMap {
    /// Returns the index of the column with a role: the one given by the user, or the first one with a usual name. Upper
    /// and lower case are not distinguished.
    ///
    /// # Errors
    /// [`Error::MissingColumn`] if the schema has no column with the name given by the user.
    pub fn find(&self, schema: &Schema, role: Role) -> Result<Option<usize>, Error> {
        let position = |name: &str| {
            let mut fields = schema.fields().iter();
            fields.position(|field| field.name().eq_ignore_ascii_case(name))
        };
        if let Some((_, name)) = self.0.iter().rev().find(|(of, _)| *of == role) {
            let missing = || Error::MissingColumn(role, name.clone());
            return position(name).ok_or_else(missing).map(Some);
        }
        Ok(role.names().iter().find_map(|name| position(name)))
    }
}
