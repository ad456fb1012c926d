#include "zoetrope_shims.h"
