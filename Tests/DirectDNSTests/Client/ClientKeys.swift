// SPDX-License-Identifier: Apache-2.0

/// A client's key that has a password, `s3cret`, and one that looks as if it had.
enum ClientKeys {
  static let locked = """
    -----BEGIN RSA PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF

    MIICXAIBAAKBgQC7
    -----END RSA PRIVATE KEY-----

    """
  static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhx5H2kF+EyzAICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAofNEJiiidhAut+i7FmM6QEgZBB
    v0K4sCOwsbksirbm57d7x1NHijjkwxIVJzA5v1iylJnOnu9B/3azmFpkpNHeaAol
    VN2oSQBjr421FIRenjboHb2ivQVkaUYEAORBro4MdPn9bjQKg1KUvnbZxEWyxR+C
    +SRG7lCSMUeXSlLVyDEmECsNxN0qSLqVJpbBw0Scg6g4/JNFdii/VL7Vmmx3Wh0=
    -----END ENCRYPTED PRIVATE KEY-----

    """
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBfDCCASOgAwIBAgIUfWe29jUe6Zik/FyNNyFCTgq1pWAwCgYIKoZIzj0EAwIw
    EzERMA8GA1UEAwwIcGlwZWxpbmUwIBcNMjYxMTI1MDM1MDI3WhgPMjEyNjExMDEw
    MzUwMjdaMBMxETAPBgNVBAMMCHBpcGVsaW5lMFkwEwYHKoZIzj0CAQYIKoZIzj0D
    AQcDQgAEHRWv46yG/ADlE+sYDJlE4h5Rj9Ht6MBSO11HYy3fEI7UZk4hnSQ9GcUZ
    R8ZJor94kl6NRW8qBlqphPpPSyJ7SqNTMFEwHQYDVR0OBBYEFN6EKX8WXRofbMKJ
    KgSwHZxxwqxxMB8GA1UdIwQYMBaAFN6EKX8WXRofbMKJKgSwHZxxwqxxMA8GA1Ud
    EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgNdZSbtZFQG4wk4GLjODFi8Z/
    PUggy39OF/UXgqwn2FkCIHIqtSD4Z79YP/01eqONn62sae7+NdsBLJ8lxCddIaC+
    -----END CERTIFICATE-----

    """
}
