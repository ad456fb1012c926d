import Zoetrope

// The samples of the README, the documentation pages and the documentation comments, so that they are compiled as
// in a package of a user: without access to `package` symbols, and with imports checked member by member. Each page
// has a file of its name here. `SampleTests` finds each sample in it, line by line; what stands around the samples
// is not compared.

func show(_ bitmap: Bitmap, at time: Duration) {}
func show(_ bitmap: Bitmap) {}
func show(_ phase: LoadingPhase) {}
func upload(_ bitmap: Bitmap, in rect: PixelRect) {}
