//! Signed transactions rebuilt from the columns of their fields.

use arrow_array::{Array, ArrayRef, LargeBinaryArray, RecordBatch, StructArray, cast::AsArray};
use arrow_schema::{DataType, Schema};
use lydite_bytes::{Address, B256, Bytes, U256};
use lydite_curve::secp256k1::Signature;
use lydite_evm::tx::{AccessListItem, Authorization, TransactionRequest, TransactionType};

use crate::{
    ByteColumn, ColumnMap, Error, Failure, Role, RowError, hashes,
    integers::IntegerColumn,
    lists::{self, Span},
};

/// The fields of a batch of signed transactions, one column each.
///
/// A column of hashes shows whether a transaction is complete, so that a fee, list, type or chain id that is null or
/// has no column counts as zero or empty. Without hashes, those that the type of the transaction needs must be present.
/// Only a null chain id has a meaning then: a legacy transaction without EIP-155.
#[derive(Clone, Debug)]
pub struct TransactionColumns {
    kind: Option<IntegerColumn>,
    chain_id: Option<IntegerColumn>,
    nonce: IntegerColumn,
    gas_limit: IntegerColumn,
    gas_price: Option<IntegerColumn>,
    max_fee_per_gas: Option<IntegerColumn>,
    max_priority_fee_per_gas: Option<IntegerColumn>,
    max_fee_per_blob_gas: Option<IntegerColumn>,
    to: ByteColumn,
    value: IntegerColumn,
    input: ByteColumn,
    access_list: Option<AccessLists>,
    blob_versioned_hashes: Option<Lists<ByteColumn>>,
    authorization_list: Option<Lists<Authorizations>>,
    v: IntegerColumn,
    r: IntegerColumn,
    s: IntegerColumn,
    hash: Option<ByteColumn>,
}

type AccessLists = Lists<(ByteColumn, Lists<ByteColumn>)>;

/// A column of lists: the positions of each row's items.
#[derive(Clone, Debug)]
struct Lists<T> {
    spans: Vec<Span>,
    items: T,
}

#[derive(Clone, Debug)]
struct Authorizations {
    chain_id: IntegerColumn,
    address: ByteColumn,
    nonce: IntegerColumn,
    y_parity: IntegerColumn,
    r: IntegerColumn,
    s: IntegerColumn,
}

impl TransactionColumns {
    /// The columns without which a transaction cannot be rebuilt.
    const REQUIRED: [Role; 8] = [
        Role::R,
        Role::S,
        Role::V,
        Role::Nonce,
        Role::GasLimit,
        Role::To,
        Role::Value,
        Role::Input,
    ];
    const OPTIONAL: [Role; 10] = [
        Role::Type,
        Role::ChainId,
        Role::GasPrice,
        Role::MaxFeePerGas,
        Role::MaxPriorityFeePerGas,
        Role::MaxFeePerBlobGas,
        Role::AccessList,
        Role::BlobVersionedHashes,
        Role::AuthorizationList,
        Role::TransactionHash,
    ];

    /// Returns the indices of the columns that [`from_batch`](Self::from_batch) reads.
    ///
    /// # Errors
    /// [`Error::MissingRole`], [`Error::MissingColumn`]. If there is neither a column of hashes nor one of access lists,
    /// it cannot be known whether a transaction is complete: [`Error::MissingRole`] with
    /// [`Role::TransactionHash`]. Without hashes, there must also be a column of types.
    pub fn columns(schema: &Schema, map: &ColumnMap) -> Result<Vec<usize>, Error> {
        let mut columns = Vec::new();
        for role in Self::REQUIRED {
            columns.push(map.find(schema, role)?.ok_or(Error::MissingRole(role))?);
        }
        for role in Self::OPTIONAL {
            columns.extend(map.find(schema, role)?);
        }
        let has = |role| Ok::<_, Error>(map.find(schema, role)?.is_some());
        if !has(Role::TransactionHash)? {
            for (role, missing) in [
                (Role::AccessList, Role::TransactionHash),
                (Role::Type, Role::Type),
            ] {
                if !has(role)? {
                    return Err(Error::MissingRole(missing));
                }
            }
        }
        Ok(columns)
    }

    /// Finds the columns by their [roles](Role).
    ///
    /// # Errors
    /// Those of [`columns`](Self::columns), [`Error::NotBytes`], [`Error::NotIntegers`] and [`Error::NotList`].
    pub fn from_batch(batch: &RecordBatch, map: &ColumnMap) -> Result<Self, Error> {
        let schema = batch.schema_ref();
        Self::columns(schema, map)?;
        let find = |role| -> Result<Option<&ArrayRef>, Error> {
            Ok(map.find(schema, role)?.map(|index| batch.column(index)))
        };
        let required = |role| find(role)?.ok_or(Error::MissingRole(role));
        let integers = |role| IntegerColumn::try_new(required(role)?);
        let optional = |role| find(role)?.map(IntegerColumn::try_new).transpose();
        let list = |role| -> Result<Option<(Role, &ArrayRef)>, Error> {
            let array = find(role)?.filter(|array| *array.data_type() != DataType::Null);
            Ok(array.map(|array| (role, array)))
        };
        Ok(Self {
            kind: optional(Role::Type)?,
            chain_id: optional(Role::ChainId)?,
            nonce: integers(Role::Nonce)?,
            gas_limit: integers(Role::GasLimit)?,
            gas_price: optional(Role::GasPrice)?,
            max_fee_per_gas: optional(Role::MaxFeePerGas)?,
            max_priority_fee_per_gas: optional(Role::MaxPriorityFeePerGas)?,
            max_fee_per_blob_gas: optional(Role::MaxFeePerBlobGas)?,
            to: ByteColumn::try_new(required(Role::To)?)?,
            value: integers(Role::Value)?,
            input: ByteColumn::try_new(required(Role::Input)?)?,
            access_list: list(Role::AccessList)?.map(access_lists).transpose()?,
            blob_versioned_hashes: list(Role::BlobVersionedHashes)?
                .map(|(role, array)| {
                    let (spans, items) = split(role, array)?;
                    let items = ByteColumn::try_new(&items)?;
                    Ok::<_, Error>(Lists { spans, items })
                })
                .transpose()?,
            authorization_list: list(Role::AuthorizationList)?
                .map(authorizations)
                .transpose()?,
            v: integers(Role::V)?,
            r: integers(Role::R)?,
            s: integers(Role::S)?,
            hash: find(Role::TransactionHash)?
                .map(ByteColumn::try_new)
                .transpose()?,
        })
    }

    /// Returns the number of transactions.
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Whether there are no transactions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Encodes each transaction as its signed envelope. If there is a column of hashes, the hash of the envelope must be
    /// equal. A transaction that cannot be rebuilt is null and a failure.
    ///
    /// A legacy transaction whose v is only a parity is tried with and without the chain id of EIP-155; the hash decides.
    pub fn rebuild(&self) -> (ByteColumn, Vec<Failure>) {
        let mut failures = Vec::new();
        let mut envelopes: Vec<Option<Vec<u8>>> = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            let envelope = self.envelope(row, true).map_err(|error| {
                failures.push(Failure { row, error });
            });
            envelopes.push(envelope.ok());
        }
        if let Some(hash) = &self.hash {
            let (found, _) = hashes(&column(&envelopes));
            for (row, envelope) in envelopes.iter_mut().enumerate() {
                if envelope.is_none() || hash.get(row) == Some(found.value(row)) {
                    continue;
                }
                let unprotected = self.envelope(row, false).ok();
                *envelope = unprotected.filter(|envelope| {
                    let hash_of = lydite_hash::keccak256(envelope);
                    hash.get(row) == Some(&hash_of[..])
                });
                if envelope.is_none() {
                    let error = RowError::Hash;
                    failures.push(Failure { row, error });
                }
            }
            failures.sort_by_key(|failure| failure.row);
        }
        (column(&envelopes), failures)
    }

    /// Encodes a transaction. `protected` is whether a legacy transaction whose v is a parity has a chain id.
    fn envelope(&self, row: usize, protected: bool) -> Result<Vec<u8>, RowError> {
        let number =
            |column: &IntegerColumn, role| column.get(row, role)?.ok_or(RowError::Field(role));
        let optional = |column: &Option<IntegerColumn>, role| match column {
            Some(column) => column.get(row, role),
            None => Ok(None),
        };
        let u64 = |column: &IntegerColumn, role| to_u64(number(column, role)?, role);
        let needed = |column: &Option<IntegerColumn>, role| {
            optional(column, role)?.map_or_else(|| self.absent(role), Ok)
        };
        let fee = |column: &Option<IntegerColumn>, role| to_u128(needed(column, role)?, role);

        let kind = match to_u64(needed(&self.kind, Role::Type)?, Role::Type)? {
            0 => TransactionType::Legacy,
            1 => TransactionType::Eip2930,
            2 => TransactionType::Eip1559,
            3 => TransactionType::Eip4844,
            4 => TransactionType::Eip7702,
            other => return Err(RowError::Unsigned(other)),
        };
        let legacy = kind == TransactionType::Legacy;
        let column_chain_id = optional(&self.chain_id, Role::ChainId)?
            .map(|chain_id| to_u64(chain_id, Role::ChainId))
            .transpose()?;
        let chain_id = match column_chain_id {
            // A null chain id of a legacy transaction means that there is no EIP-155.
            None if !legacy || self.chain_id.is_none() => self.absent(Role::ChainId),
            chain_id => Ok(chain_id),
        };
        let (chain_id, parity) = match u64(&self.v, Role::V)? {
            parity @ (0 | 1) if legacy => (chain_id?.filter(|_| protected), parity),
            v @ (27 | 28) if legacy => (None, v - 27),
            v @ 35.. if legacy => (Some((v - 35) / 2), (v - 35) % 2),
            parity @ (0 | 1) => (chain_id?, parity),
            v @ (27 | 28) => (chain_id?, v - 27),
            _ => return Err(RowError::Field(Role::V)),
        };
        let (r, s) = (number(&self.r, Role::R)?, number(&self.s, Role::S)?);
        let signature = Signature::new(r.to_be_bytes(), s.to_be_bytes(), parity as u8);

        let mut request = TransactionRequest {
            kind,
            chain_id,
            nonce: u64(&self.nonce, Role::Nonce)?,
            gas_limit: u64(&self.gas_limit, Role::GasLimit)?,
            to: match self.to.get(row) {
                None | Some([]) => None,
                Some(to) => Some(Address(array(to, Role::To)?)),
            },
            value: number(&self.value, Role::Value)?,
            data: Bytes::from(self.input.get(row).unwrap_or_default()),
            ..TransactionRequest::default()
        };
        if self.to.is_invalid(row) || self.input.is_invalid(row) {
            return Err(RowError::Hexadecimal);
        }
        if matches!(kind, TransactionType::Legacy | TransactionType::Eip2930) {
            request.gas_price = fee(&self.gas_price, Role::GasPrice)?;
        } else {
            request.max_fee_per_gas = fee(&self.max_fee_per_gas, Role::MaxFeePerGas)?;
            let priority_fee = fee(&self.max_priority_fee_per_gas, Role::MaxPriorityFeePerGas)?;
            request.max_priority_fee_per_gas = priority_fee;
        }
        if !legacy {
            let (role, lists) = (Role::AccessList, self.access_list.as_ref());
            request.access_list = self.items(role, lists, row, |(addresses, keys), at| {
                Ok(AccessListItem {
                    address: Address(array(addresses.get(at).unwrap_or_default(), role)?),
                    storage_keys: self
                        .items(role, Some(keys), at, |keys, at| word(keys, at, role))?,
                })
            })?;
        }
        if kind == TransactionType::Eip4844 {
            request.max_fee_per_blob_gas = fee(&self.max_fee_per_blob_gas, Role::MaxFeePerBlobGas)?;
            let (role, lists) = (
                Role::BlobVersionedHashes,
                self.blob_versioned_hashes.as_ref(),
            );
            request.blob_versioned_hashes =
                self.items(role, lists, row, |hashes, at| word(hashes, at, role))?;
        }
        if kind == TransactionType::Eip7702 {
            let (role, lists) = (Role::AuthorizationList, self.authorization_list.as_ref());
            request.authorization_list = self.items(role, lists, row, authorization)?;
        }
        let signed = request.with_signature(signature);
        Ok(signed.map_err(RowError::Transaction)?.encode())
    }

    /// Returns the items of a list in a row.
    fn items<T, I>(
        &self,
        role: Role,
        lists: Option<&Lists<T>>,
        row: usize,
        item: impl Fn(&T, usize) -> Result<I, RowError>,
    ) -> Result<Vec<I>, RowError> {
        let list = lists.and_then(|lists| Some((&lists.items, lists.spans[row].clone()?)));
        let Some((items, span)) = list else {
            return self.absent(role);
        };
        span.map(|at| item(items, at)).collect()
    }

    /// Returns the value of a field that is null or has no column: zero or empty if the hash decides whether that is
    /// right.
    fn absent<T: Default>(&self, role: Role) -> Result<T, RowError> {
        match self.hash {
            Some(_) => Ok(T::default()),
            None => Err(RowError::Field(role)),
        }
    }
}

fn column(envelopes: &[Option<Vec<u8>>]) -> ByteColumn {
    ByteColumn::from(LargeBinaryArray::from_iter(envelopes))
}

fn to_u64(value: U256, role: Role) -> Result<u64, RowError> {
    match value.limbs() {
        &[low, 0, 0, 0] => Ok(low),
        _ => Err(RowError::Field(role)),
    }
}

fn to_u128(value: U256, role: Role) -> Result<u128, RowError> {
    match value.limbs() {
        &[low, high, 0, 0] => Ok(u128::from(high) << 64 | u128::from(low)),
        _ => Err(RowError::Field(role)),
    }
}

fn array<const N: usize>(bytes: &[u8], role: Role) -> Result<[u8; N], RowError> {
    bytes.try_into().map_err(|_| RowError::Field(role))
}

fn word(column: &ByteColumn, at: usize, role: Role) -> Result<B256, RowError> {
    Ok(B256::from(array::<32>(
        column.get(at).unwrap_or_default(),
        role,
    )?))
}

fn split(role: Role, list: &ArrayRef) -> Result<(Vec<Span>, ArrayRef), Error> {
    lists::split(list).ok_or_else(|| Error::NotList(role, list.data_type().clone()))
}

/// Returns a member of the structs in a list.
fn member<'a>(role: Role, structs: &'a StructArray, name: &str) -> Result<&'a ArrayRef, Error> {
    let missing = || Error::NotList(role, structs.data_type().clone());
    structs.column_by_name(name).ok_or_else(missing)
}

fn structs(role: Role, items: &ArrayRef) -> Result<&StructArray, Error> {
    let wrong = || Error::NotList(role, items.data_type().clone());
    items.as_struct_opt().ok_or_else(wrong)
}

fn access_lists((role, list): (Role, &ArrayRef)) -> Result<AccessLists, Error> {
    let (spans, items) = split(role, list)?;
    let items = structs(role, &items)?;
    let addresses = ByteColumn::try_new(member(role, items, "address")?)?;
    let (key_spans, keys) = split(role, member(role, items, "storage_keys")?)?;
    let keys = Lists {
        spans: key_spans,
        items: ByteColumn::try_new(&keys)?,
    };
    Ok(Lists {
        spans,
        items: (addresses, keys),
    })
}

fn authorizations((role, list): (Role, &ArrayRef)) -> Result<Lists<Authorizations>, Error> {
    let (spans, items) = split(role, list)?;
    let items = structs(role, &items)?;
    let integers = |name| IntegerColumn::try_new(member(role, items, name)?);
    let items = Authorizations {
        chain_id: integers("chain_id")?,
        address: ByteColumn::try_new(member(role, items, "address")?)?,
        nonce: integers("nonce")?,
        y_parity: integers("y_parity")?,
        r: integers("r")?,
        s: integers("s")?,
    };
    Ok(Lists { spans, items })
}

fn authorization(items: &Authorizations, at: usize) -> Result<Authorization, RowError> {
    let role = Role::AuthorizationList;
    let number = |column: &IntegerColumn| column.get(at, role)?.ok_or(RowError::Field(role));
    let parity = to_u64(number(&items.y_parity)?, role)?;
    Ok(Authorization {
        chain_id: number(&items.chain_id)?,
        address: Address(array(items.address.get(at).unwrap_or_default(), role)?),
        nonce: to_u64(number(&items.nonce)?, role)?,
        y_parity: u8::try_from(parity).map_err(|_| RowError::Field(role))?,
        r: number(&items.r)?,
        s: number(&items.s)?,
    })
}
