// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nothing in it reaches users of the library.
let package = Package(
  name: "zoetrope-benchmarks",
  dependencies: [
    .package(name: "zoetrope", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "bench-decode",
      dependencies: [
        .product(name: "Zoetrope", package: "zoetrope"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Sources/BenchDecode"),
    .executableTarget(
      name: "bench-scale",
      dependencies: [.product(name: "Zoetrope", package: "zoetrope")],
      path: "Sources/ScaleBench"),
    .target(name: "MallocCount", path: "Sources/MallocCount"),
    .executableTarget(
      name: "bench-cache",
      dependencies: [
        "MallocCount",
        .product(name: "Zoetrope", package: "zoetrope"),
        .product(name: "ZoetropeTestSupport", package: "zoetrope"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Sources/CacheBench"),
    .executableTarget(
      name: "bench-pressure",
      dependencies: [
        .product(name: "Zoetrope", package: "zoetrope"),
        .product(name: "ZoetropeTestSupport", package: "zoetrope"),
      ],
      path: "Sources/PressureBench"),
    .executableTarget(
      name: "playback-timing",
      dependencies: [
        .product(name: "Zoetrope", package: "zoetrope"),
        .product(name: "ZoetropeTestSupport", package: "zoetrope"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Sources/PlaybackTiming"),
  ]
)
