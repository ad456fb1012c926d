internal import CDeflate
internal import CXXHash
internal import ZoetropeShims

/// The C libraries that this build uses, for bug reports and security advisories.
package enum LinkedLibraries {
  /// The names and versions, such as `libpng 1.6.39`. For libpng and xxHash, this is the run-time version; for giflib
  /// and libdeflate, which do not report one at run time, the version of the headers.
  package static var versions: [String] {
    [
      "giflib \(text(zt_gif_version()))", "libpng \(text(zt_png_version()))",
      "libdeflate \(LIBDEFLATE_VERSION_STRING)", "xxHash \(text(XXH_versionNumber()))",
    ]
  }

  /// Formats a version number that has two decimal digits each for its second and third part.
  private static func text(_ version: UInt32) -> String {
    "\(version / 10000).\(version / 100 % 100).\(version % 100)"
  }
}
