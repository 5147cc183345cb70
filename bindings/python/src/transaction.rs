//! Transactions of all types.

use lydite::{
    bytes::{Address, B256, Bytes, U256},
    curve::secp256k1::SecretKey,
    evm::tx::{
        self, AccessListItem, Authorization, Field, Signable, TransactionRef, TransactionRequest,
        TransactionType,
    },
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyString, PyTuple},
};

use crate::{
    data::{Data, Items, Secret, address, bytes_or_hex, text},
    error::{EncodeError, IntoPython},
    hash::to_bytes,
    integer, secp256k1,
};

/// A signed transaction of any type (legacy, 1, 2, 3, 4): `Tx.decode(raw).sender`. Fields that the type lacks are
/// `None`.
#[pyclass(frozen, module = "lydite")]
pub struct Tx(Py<PyBytes>);

impl Tx {
    /// The bytes were accepted once, so they are accepted again; decoding them takes less time than a Python attribute
    /// look-up.
    fn with<'py, T>(
        &self,
        py: Python<'py>,
        read: impl FnOnce(&TransactionRef<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let transaction =
            TransactionRef::decode(self.0.as_bytes(py)).map_err(IntoPython::into_python)?;
        read(&transaction)
    }
}

#[pymethods]
impl Tx {
    /// Decodes an envelope strictly.
    #[staticmethod]
    #[pyo3(signature = (raw, /))]
    fn decode(py: Python<'_>, raw: &Bound<'_, PyAny>) -> PyResult<Self> {
        let data: Data<'_> = raw.extract()?;
        TransactionRef::decode(&data).map_err(IntoPython::into_python)?;
        let bytes = match raw.cast::<PyBytes>() {
            Ok(bytes) => bytes.clone(),
            Err(_) => PyBytes::new(py, &data),
        };
        Ok(Self(bytes.unbind()))
    }

    /// The envelope.
    #[getter]
    fn raw(&self, py: Python<'_>) -> Py<PyBytes> {
        self.0.clone_ref(py)
    }

    /// Envelope type, 0 to 4.
    #[getter]
    fn r#type(&self, py: Python<'_>) -> PyResult<u8> {
        self.with(py, |tx| Ok(tx.kind as u8))
    }

    /// Keccak-256 of the envelope.
    #[getter]
    fn hash<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |tx| Ok(PyBytes::new(py, &tx.hash().0)))
    }

    /// The hash that the sender signed.
    #[getter]
    fn signing_hash<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |tx| Ok(PyBytes::new(py, &tx.signing_hash().0)))
    }

    /// The address of the signer: 20 bytes. Raises SignatureError if recovery fails or s is high (EIP-2).
    #[getter]
    fn sender<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |tx| {
            Ok(to_bytes(py, &tx.sender().map_err(IntoPython::into_python)?))
        })
    }

    /// The signature: r, s, v with v 0 or 1, 65 bytes.
    #[getter]
    fn signature<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |tx| Ok(PyBytes::new(py, &tx.signature.to_bytes65())))
    }

    /// Chain id; `None` in a legacy transaction without EIP-155.
    #[getter]
    fn chain_id(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.with(py, |tx| Ok(tx.chain_id))
    }

    #[getter]
    fn nonce(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |tx| Ok(tx.nonce))
    }

    /// Types 0 and 1.
    #[getter]
    fn gas_price(&self, py: Python<'_>) -> PyResult<Option<u128>> {
        self.with(py, |tx| {
            Ok(tx.kind.has(Field::GasPrice).then_some(tx.max_fee_per_gas))
        })
    }

    /// Types 2 and up.
    #[getter]
    fn max_fee_per_gas(&self, py: Python<'_>) -> PyResult<Option<u128>> {
        self.with(py, |tx| {
            Ok(tx
                .kind
                .has(Field::MaxFeePerGas)
                .then_some(tx.max_fee_per_gas))
        })
    }

    /// Types 2 and up.
    #[getter]
    fn max_priority_fee_per_gas(&self, py: Python<'_>) -> PyResult<Option<u128>> {
        self.with(py, |tx| {
            Ok(tx
                .kind
                .has(Field::MaxPriorityFeePerGas)
                .then_some(tx.max_priority_fee_per_gas))
        })
    }

    #[getter]
    fn gas_limit(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |tx| Ok(tx.gas_limit))
    }

    /// Recipient, 20 bytes; `None` for contract creation.
    #[getter]
    fn to<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.with(py, |tx| {
            Ok(tx.to.as_ref().map(|address| to_bytes(py, address)))
        })
    }

    /// Value in wei.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.with(py, |tx| integer::from_unsigned(py, &tx.value))
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |tx| Ok(PyBytes::new(py, tx.data)))
    }

    /// Tuples (address, tuple of storage keys); `None` in type 0.
    #[getter]
    fn access_list<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.with(py, |tx| {
            if !tx.kind.has(Field::AccessList) {
                return Ok(None);
            }
            let items = tx.access_list.iter().map(|item| {
                let keys = item.storage_keys.iter().map(|key| PyBytes::new(py, &key.0));
                Ok((
                    to_bytes(py, &item.address),
                    PyTuple::new(py, keys.collect::<Vec<_>>())?,
                ))
            });
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?).map(Some)
        })
    }

    /// Type 3.
    #[getter]
    fn max_fee_per_blob_gas(&self, py: Python<'_>) -> PyResult<Option<u128>> {
        self.with(py, |tx| {
            Ok(tx
                .kind
                .has(Field::MaxFeePerBlobGas)
                .then_some(tx.max_fee_per_blob_gas))
        })
    }

    /// Type 3: tuple of 32 bytes each.
    #[getter]
    fn blob_versioned_hashes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.with(py, |tx| {
            if !tx.kind.has(Field::BlobVersionedHashes) {
                return Ok(None);
            }
            let hashes = tx
                .blob_versioned_hashes
                .iter()
                .map(|hash| PyBytes::new(py, &hash.0));
            PyTuple::new(py, hashes.collect::<Vec<_>>()).map(Some)
        })
    }

    /// Type 4: tuples (chain id, address, nonce, y parity, r, s).
    #[getter]
    fn authorization_list<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.with(py, |tx| {
            if !tx.kind.has(Field::AuthorizationList) {
                return Ok(None);
            }
            let items = tx.authorization_list.iter().map(|item| {
                Ok((
                    integer::from_unsigned(py, &item.chain_id)?,
                    to_bytes(py, &item.address),
                    item.nonce,
                    item.y_parity,
                    integer::from_unsigned(py, &item.r)?,
                    integer::from_unsigned(py, &item.s)?,
                ))
            });
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?).map(Some)
        })
    }

    fn __eq__(&self, py: Python<'_>, other: &Self) -> bool {
        self.0.as_bytes(py) == other.0.as_bytes(py)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.0.bind(py).hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |tx| {
            let hash = lydite::bytes::hex::encode_prefixed(tx.hash());
            Ok(format!("<Tx type {} {hash}>", tx.kind as u8))
        })
    }
}

/// The sender of each raw transaction, or `None` if the envelope or its signature is invalid: decoding, hashing and
/// recovery in batches. Lets other threads run.
#[pyfunction]
#[pyo3(signature = (raw, /))]
pub fn senders<'py>(
    py: Python<'py>,
    raw: Items<'py>,
) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
    let data = raw.data()?;
    let raw: Vec<&[u8]> = data.iter().map(|data| &**data).collect();
    let found = py
        .detach(|| {
            let mut found = vec![Ok(Address::ZERO); raw.len()];
            tx::senders(&raw, &mut found).map(|()| found)
        })
        .map_err(IntoPython::into_python)?;
    Ok(found
        .iter()
        .map(|sender| sender.ok().map(|address| to_bytes(py, &address)))
        .collect())
}

/// A transaction's fields with the names of JSON-RPC and eth-account, each read once.
struct Fields<'a, 'py> {
    given: &'a Bound<'py, PyDict>,
    taken: usize,
}

impl<'a, 'py> Fields<'a, 'py> {
    fn take(&mut self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.given.get_item(name)?;
        self.taken += usize::from(value.is_some());
        Ok(value)
    }

    fn has(&self, name: &str) -> PyResult<bool> {
        self.given.contains(name)
    }

    fn required(&mut self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.take(name)?
            .ok_or_else(|| EncodeError::new_err(format!("{name}: missing")))
    }

    fn integer<T: TryFrom<U256>>(&mut self, name: &str) -> PyResult<T> {
        to_integer(name, &self.required(name)?)
    }

    /// A legacy transaction may be valid on every chain.
    fn chain_id(&mut self, kind: TransactionType) -> PyResult<Option<u64>> {
        if kind == TransactionType::Legacy {
            return match self.take("chainId")? {
                Some(id) if !id.is_none() => to_integer("chainId", &id).map(Some),
                _ => Ok(None),
            };
        }
        self.integer("chainId").map(Some)
    }

    fn data(&mut self) -> PyResult<Bytes> {
        match self.take("data")? {
            None => Ok(Bytes::new()),
            Some(data) => Ok(Bytes(
                bytes_or_hex(&data)
                    .map_err(|error| located("data", &error, &data))?
                    .to_vec(),
            )),
        }
    }

    fn recipient(&mut self) -> PyResult<Option<Address>> {
        match self.take("to")? {
            None => Ok(None),
            Some(to) if to.is_none() => Ok(None),
            // Empty text and empty bytes mean contract creation in JSON-RPC and in eth-account.
            Some(to) if is_empty_text_or_bytes(&to) => Ok(None),
            Some(to) => address(&to)
                .map(Some)
                .map_err(|error| located("to", &error, &to)),
        }
    }

    /// `from` is not signed, but must be the address of the key.
    fn check_sender(&mut self, key: &SecretKey) -> PyResult<()> {
        let Some(from) = self.take("from")?.filter(|from| !from.is_none()) else {
            return Ok(());
        };
        let given = address(&from).map_err(|error| located("from", &error, &from))?;
        let own = key.public_key().to_address();
        if given == own {
            return Ok(());
        }
        Err(EncodeError::new_err(format!(
            "from: expected the key's address {own}, found {given}"
        )))
    }

    fn access_list(&mut self) -> PyResult<Vec<AccessListItem>> {
        let Some(items) = self.take("accessList")? else {
            return Ok(Vec::new());
        };
        list("accessList", &items, |item| {
            let (account, keys) = match item.cast::<PyDict>() {
                Ok(item) => {
                    let members = (get(item, "address")?, get(item, "storageKeys")?);
                    check_members(item, &["address", "storageKeys"])?;
                    members
                }
                Err(_) => item.extract()?,
            };
            Ok(AccessListItem {
                address: account_of(&account)?,
                storage_keys: words("storageKeys", &keys)?,
            })
        })
    }

    fn authorization_list(&mut self) -> PyResult<Vec<Authorization>> {
        let items = self.required("authorizationList")?;
        list("authorizationList", &items, |item| {
            let item = item.cast::<PyDict>()?;
            let authorization = Authorization {
                chain_id: to_integer("chainId", &get(item, "chainId")?)?,
                address: account_of(&get(item, "address")?)?,
                nonce: to_integer("nonce", &get(item, "nonce")?)?,
                y_parity: to_byte("yParity", &get(item, "yParity")?)?,
                r: to_integer("r", &get(item, "r")?)?,
                s: to_integer("s", &get(item, "s")?)?,
            };
            check_members(item, &["chainId", "address", "nonce", "yParity", "r", "s"])?;
            Ok(authorization)
        })
    }

    /// No field is dropped silently: a field that the type does not have is an error.
    fn finish(self) -> PyResult<()> {
        if self.taken == self.given.len() {
            return Ok(());
        }
        Err(EncodeError::new_err(format!(
            "found fields that this transaction type does not have, among {}",
            self.given.keys()
        )))
    }
}

fn is_empty_text_or_bytes(object: &Bound<'_, PyAny>) -> bool {
    match object.cast::<PyString>() {
        Ok(text) => text.len().is_ok_and(|length| length == 0),
        Err(_) => object
            .extract::<Data<'_>>()
            .is_ok_and(|data| data.is_empty()),
    }
}

fn get<'py>(item: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    item.get_item(name)?
        .ok_or_else(|| EncodeError::new_err(format!("{name}: missing")))
}

/// Rejects members of an entry other than these, all of which it has.
fn check_members(entry: &Bound<'_, PyDict>, names: &[&str]) -> PyResult<()> {
    if entry.len() == names.len() {
        return Ok(());
    }
    let expected = names.join(", ");
    Err(EncodeError::new_err(format!(
        "expected the members {expected}, found {}",
        entry.keys()
    )))
}

/// The items of a list, with the index in error messages.
fn list<'py, T>(
    name: &str,
    items: &Bound<'py, PyAny>,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let items = items
        .try_iter()
        .map_err(|error| located(name, &error, items))?;
    items
        .enumerate()
        .map(|(index, item)| {
            let item = item?;
            read(&item).map_err(|error| located(&format!("{name}[{index}]"), &error, &item))
        })
        .collect()
}

fn account_of(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    address(object).map_err(|error| located("address", &error, object))
}

fn words(name: &str, items: &Bound<'_, PyAny>) -> PyResult<Vec<B256>> {
    list(name, items, |item| {
        Ok(B256::from(*bytes_or_hex(item)?.array("word")?))
    })
}

/// An int, or hexadecimal text as in JSON-RPC.
fn to_integer<T: TryFrom<U256>>(name: &str, object: &Bound<'_, PyAny>) -> PyResult<T> {
    let out_of_range = || {
        let bits = 8 * size_of::<T>();
        EncodeError::new_err(format!(
            "{name}: expected an unsigned integer of at most {bits} bits"
        ))
    };
    let value = match object.cast::<PyString>() {
        Ok(found) => text(found)?
            .parse::<U256>()
            .map_err(|error| EncodeError::new_err(format!("{name}: {error}")))?,
        Err(_) => integer::unsigned(object)
            .map_err(|error| located(name, &error, object))?
            .ok_or_else(out_of_range)?,
    };
    T::try_from(value).map_err(|_| out_of_range())
}

fn to_byte(name: &str, object: &Bound<'_, PyAny>) -> PyResult<u8> {
    let value: u64 = to_integer(name, object)?;
    u8::try_from(value)
        .map_err(|_| EncodeError::new_err(format!("{name}: expected an integer from 0 to 255")))
}

fn located(name: &str, error: &PyErr, object: &Bound<'_, PyAny>) -> PyErr {
    EncodeError::new_err(format!("{name}: {}", error.value(object.py())))
}

/// Signs a transaction given as a dict with JSON-RPC field names (`type`, `chainId`, `nonce`, `gas`, `gasPrice`,
/// `maxFeePerGas`, `maxPriorityFeePerGas`, `to`, `value`, `data`, `accessList`, `maxFeePerBlobGas`,
/// `blobVersionedHashes`, `authorizationList`) and returns its envelope. Without `type`, the type is inferred from the
/// fields, like in eth-account. `from` may be given and must be the key's address.
#[pyfunction]
#[pyo3(signature = (fields, secret_key, /))]
pub fn sign_transaction<'py>(
    fields: &Bound<'py, PyDict>,
    secret_key: Secret<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let key = secp256k1::secret_key(&secret_key)?;
    let mut fields = Fields {
        given: fields,
        taken: 0,
    };
    let number = match fields.take("type")? {
        Some(number) => to_byte("type", &number)?,
        None if fields.has("authorizationList")? => 4,
        None if fields.has("blobVersionedHashes")? => 3,
        None if fields.has("maxFeePerGas")? => 2,
        None if fields.has("accessList")? => 1,
        None => 0,
    };
    let kind = TransactionType::try_from(number).map_err(|_| {
        EncodeError::new_err(format!(
            "type: unknown transaction type {number}; expected 0 to 4"
        ))
    })?;
    let mut tx = TransactionRequest {
        kind,
        ..TransactionRequest::default()
    };
    for field in kind.fields() {
        match field {
            Field::ChainId => tx.chain_id = fields.chain_id(kind)?,
            Field::Nonce => tx.nonce = fields.integer("nonce")?,
            Field::GasPrice => tx.gas_price = fields.integer("gasPrice")?,
            Field::MaxPriorityFeePerGas => {
                tx.max_priority_fee_per_gas = fields.integer("maxPriorityFeePerGas")?;
            }
            Field::MaxFeePerGas => tx.max_fee_per_gas = fields.integer("maxFeePerGas")?,
            Field::GasLimit => tx.gas_limit = fields.integer("gas")?,
            Field::To => tx.to = fields.recipient()?,
            Field::Value => tx.value = fields.integer("value")?,
            Field::Data => tx.data = fields.data()?,
            Field::AccessList => tx.access_list = fields.access_list()?,
            Field::MaxFeePerBlobGas => {
                tx.max_fee_per_blob_gas = fields.integer("maxFeePerBlobGas")?;
            }
            Field::BlobVersionedHashes => {
                let name = "blobVersionedHashes";
                tx.blob_versioned_hashes = words(name, &fields.required(name)?)?;
            }
            Field::AuthorizationList => tx.authorization_list = fields.authorization_list()?,
        }
    }
    let py = fields.given.py();
    fields.check_sender(&key)?;
    fields.finish()?;
    let signed = tx
        .sign(&key)
        .map_err(|error| EncodeError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &signed.encode()))
}
