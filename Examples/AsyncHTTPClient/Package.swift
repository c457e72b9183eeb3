// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
  name: "AsyncHTTPClientExample",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "DirectDNS", path: "../..", traits: ["AsyncHTTPClient", "Testing"]),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "fetch",
      dependencies: [
        .product(name: "DirectDNS", package: "DirectDNS"),
        .product(name: "DirectDNSAsyncHTTPClient", package: "DirectDNS"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "proxied",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
    // Of DirectDNSAsyncHTTPClient: the tests of the clone itself do without AsyncHTTPClient.
    .testTarget(
      name: "DirectHTTPClientTests",
      dependencies: [
        .product(name: "DirectDNS", package: "DirectDNS"),
        .product(name: "DirectDNSAsyncHTTPClient", package: "DirectDNS"),
        .product(name: "DirectDNSTesting", package: "DirectDNS"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: [.treatAllWarnings(as: .error)]),
  ]
)
